import type { MainOptions } from '@tinkernetes/component-base';
import { flags, toOptions, type Options } from './options';
import { run } from './run';

export type { Options } from './options';

export const component: MainOptions<typeof flags, Options> = {
  component: 'kubelet',
  description: 'The agent of one node: runs the Pods that are bound to it by a container runtime (CRI).',
  flags,
  options: toOptions,
  run,
};
