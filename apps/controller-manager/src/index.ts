import type { MainOptions } from '@tinkernetes/component-base';
import { flags, toOptions, type ControllerManagerOptions } from './options';
import { run } from './run';

export const component: MainOptions<typeof flags, ControllerManagerOptions> = {
  component: 'kube-controller-manager',
  description: 'Runs the control loops that bring the cluster to the state that its objects ask for.',
  flags,
  options: toOptions,
  run,
};
