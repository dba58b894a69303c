import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';

/** Upstream's flag names: https://kubernetes.io/docs/reference/command-line-tools-reference/kube-scheduler/ */
export const flags = {
  kubeconfig: {
    type: 'string',
    help: 'Path to the kubeconfig file with credentials of system:kube-scheduler',
  },
  config: { type: 'string', help: 'Path to a KubeSchedulerConfiguration file' },
  'policy-config-file': {
    type: 'string',
    help: 'Path to a Policy file (schedulers up to v1.22): predicates, priorities and extenders by name',
  },
  'bind-address': {
    type: 'string',
    default: '127.0.0.1',
    help: 'Address of health, metrics and debug endpoints',
  },
  'secure-port': { type: 'number', default: 0, min: 0, max: 65535, help: 'Their port; 0: not served' },
  'tls-cert-file': {
    type: 'string',
    help: 'Certificate for the secure port; without one it speaks plain HTTP',
  },
  'tls-private-key-file': { type: 'string', help: 'Key of --tls-cert-file' },
  'debug-port': {
    type: 'number',
    min: 0,
    max: 65535,
    help: 'Port on loopback for /debug/scheduler/… (0: any free one); left out: not served',
  },
  'leader-elect': { type: 'boolean', default: true, help: 'Take part in leader election before scheduling' },
  'leader-elect-lease-duration': { type: 'duration', default: 15_000, help: 'How long a lease is valid' },
  'leader-elect-renew-deadline': {
    type: 'duration',
    default: 10_000,
    help: 'How long the leader tries to renew',
  },
  'leader-elect-retry-period': { type: 'duration', default: 2_000, help: 'Time between tries' },
  'leader-elect-resource-name': { type: 'string', default: 'kube-scheduler', help: 'Name of the Lease' },
  'leader-elect-resource-namespace': {
    type: 'string',
    default: 'kube-system',
    help: 'Namespace of the Lease',
  },
} as const satisfies Record<string, FlagSpec>;

export interface SchedulerOptions {
  kubeconfig: string;
  configFile: string | undefined;
  flags: FlagValues<typeof flags>;
}

export function toOptions(values: FlagValues<typeof flags>): SchedulerOptions {
  if (!values.kubeconfig)
    throw new UsageError('--kubeconfig is needed: the file that `npm start` wrote will do');
  if (Boolean(values['tls-cert-file']) !== Boolean(values['tls-private-key-file']))
    throw new UsageError('--tls-cert-file and --tls-private-key-file belong together');
  if (values.config && values['policy-config-file'])
    throw new UsageError('--config and --policy-config-file exclude each other');
  return { kubeconfig: values.kubeconfig, configFile: values.config, flags: values };
}
