import type { MainOptions } from '@tinkernetes/component-base';
import { flags, toOptions, type KubeProxyOptions } from './options';
import { run } from './run';

export const component: MainOptions<typeof flags, KubeProxyOptions> = {
  component: 'kube-proxy',
  description: "Keeps a node's NAT rules and routes equal to the cluster's Services and EndpointSlices.",
  flags,
  options: toOptions,
  run,
};
export type { KubeProxyOptions } from './options';
