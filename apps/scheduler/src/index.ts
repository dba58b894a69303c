import type { MainOptions } from '@tinkernetes/component-base';
import { flags, toOptions, type SchedulerOptions } from './options';
import { run } from './run';

export { run } from './run';
export type { SchedulerOptions } from './options';

export const component: MainOptions<typeof flags, SchedulerOptions> = {
  component: 'kube-scheduler',
  description: 'Finds a node for each new Pod. Tinkernetes’ kube-scheduler.',
  flags,
  options: toOptions,
  run,
};
