import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';

export const flags = {
  kubeconfig: { type: 'string', help: 'How to reach the API server' },
  'hostname-override': { type: 'string', help: "The Node's name" },
  'vnet-endpoint': { type: 'string', help: "The node's emulated network: unix:///path/vnet.sock" },
  'proxy-mode': {
    type: 'string',
    default: 'iptables',
    choices: ['iptables', 'userspace'],
    help: 'iptables: the node rewrites addresses; userspace: TCP connections pass through this process',
  },
  'iptables-min-sync-period': {
    type: 'duration',
    default: 100,
    help: 'At most one update of the rules in so long a time',
  },
  'iptables-sync-period': {
    type: 'duration',
    default: 30_000,
    help: 'The whole table is written again after so long, in case the network lost it',
  },
  'healthz-bind-address': { type: 'string', default: '', help: 'IP:PORT for /healthz; empty: none' },
  'metrics-bind-address': { type: 'string', default: '', help: 'IP:PORT for /metrics; empty: none' },
} as const satisfies Record<string, FlagSpec>;

export interface KubeProxyOptions {
  kubeconfig: string;
  nodeName: string;
  vnetEndpoint: string;
  mode: 'iptables' | 'userspace';
  minSyncPeriodMs: number;
  syncPeriodMs: number;
  healthzAddress?: HostPort;
  metricsAddress?: HostPort;
}
export interface HostPort {
  host: string;
  port: number;
}

export function toOptions(values: FlagValues<typeof flags>): KubeProxyOptions {
  const required = (name: 'kubeconfig' | 'hostname-override' | 'vnet-endpoint') => {
    const value = values[name];
    if (!value) throw new UsageError(`--${name} is required`);
    return value;
  };
  return {
    kubeconfig: required('kubeconfig'),
    nodeName: required('hostname-override'),
    vnetEndpoint: required('vnet-endpoint'),
    mode: values['proxy-mode'] === 'userspace' ? 'userspace' : 'iptables',
    minSyncPeriodMs: values['iptables-min-sync-period'],
    syncPeriodMs: values['iptables-sync-period'],
    healthzAddress: hostPort('healthz-bind-address', values['healthz-bind-address']),
    metricsAddress: hostPort('metrics-bind-address', values['metrics-bind-address']),
  };
}

function hostPort(flag: string, text: string): HostPort | undefined {
  if (text === '') return undefined;
  const match = /^\[?(.*?)\]?:(\d+)$/.exec(text);
  if (!match) throw new UsageError(`invalid value "${text}" for --${flag}: must be IP:PORT`);
  return { host: match[1] ?? '', port: Number(match[2]) };
}
