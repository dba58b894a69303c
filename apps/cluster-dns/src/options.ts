import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';

export const flags = {
  kubeconfig: {
    type: 'string',
    help: 'How to reach the API server; left out: the service account of the Pod it runs in',
  },
  'cluster-domain': { type: 'string', default: 'cluster.local', help: "The cluster's DNS domain" },
  'bind-address': { type: 'string', default: '0.0.0.0', help: 'Address to answer at' },
  port: { type: 'number', default: 53, min: 0, max: 65_535, help: 'UDP and TCP port; 0: any free one' },
  forward: {
    type: 'list',
    default: ['/etc/resolv.conf'],
    help: 'Who is asked about names outside of the cluster: a resolv.conf, or IP[:PORT] (list)',
  },
  'health-port': {
    type: 'number',
    default: 0,
    min: 0,
    max: 65_535,
    help: 'Port of /healthz, /readyz and /metrics; 0: none',
  },
} as const satisfies Record<string, FlagSpec>;

export interface ClusterDnsOptions {
  kubeconfig?: string;
  clusterDomain: string;
  bindAddress: string;
  port: number;
  forward: readonly string[];
  healthPort: number;
}

export function toOptions(values: FlagValues<typeof flags>): ClusterDnsOptions {
  const clusterDomain = values['cluster-domain'];
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(clusterDomain)) {
    throw new UsageError(`invalid value "${clusterDomain}" for --cluster-domain: must be a DNS name`);
  }
  return {
    kubeconfig: values.kubeconfig,
    clusterDomain,
    bindAddress: values['bind-address'],
    port: values.port,
    forward: values.forward,
    healthPort: values['health-port'],
  };
}
