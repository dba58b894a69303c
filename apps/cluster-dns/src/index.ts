import type { MainOptions } from '@tinkernetes/component-base';
import { flags, toOptions, type ClusterDnsOptions } from './options';
import { run } from './run';

export const component: MainOptions<typeof flags, ClusterDnsOptions> = {
  component: 'cluster-dns',
  description:
    "The cluster's name server: Service, headless, SRV, Pod and PTR records, and forwarding of the rest.",
  flags,
  options: toOptions,
  run,
};
export type { ClusterDnsOptions } from './options';
