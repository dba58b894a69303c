import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';

/** Upstream's command lines are taken as they are; these ask for what this scheduler has no use for. */
const withoutEffect = {
  'authentication-kubeconfig': {
    type: 'string',
    help: 'Without effect: health and metrics are served to everybody on --bind-address',
  },
  'authorization-kubeconfig': { type: 'string', help: 'Without effect, as --authentication-kubeconfig' },
  'client-ca-file': { type: 'string', help: 'Without effect, as --authentication-kubeconfig' },
  'requestheader-client-ca-file': {
    type: 'string',
    help: 'Without effect, as --authentication-kubeconfig',
  },
  'kube-api-qps': { type: 'number', help: 'Without effect: requests are not held back here' },
  'kube-api-burst': { type: 'number', help: 'Without effect, as --kube-api-qps' },
  'kube-api-content-type': { type: 'string', help: 'Without effect: requests are JSON' },
  profiling: { type: 'boolean', help: 'Without effect: use node --inspect' },
  'contention-profiling': { type: 'boolean', help: 'Without effect, as --profiling' },
} as const satisfies Record<string, FlagSpec>;

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
  'write-config-to': {
    type: 'string',
    help: 'Write the configuration that would be used to this file, and end',
  },
  master: {
    type: 'string',
    help: 'Address of the API server; it wins over the one in the kubeconfig',
  },
  'pod-max-in-unschedulable-pods-duration': {
    type: 'duration',
    default: 300_000,
    help: 'A Pod that fits nowhere is tried again after this time, even if nothing happened that may help it',
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
  'leader-elect-resource-lock': {
    type: 'string',
    default: 'leases',
    choices: ['leases'],
    help: 'Kind of the object that the leader holds',
  },
  'leader-elect-resource-name': { type: 'string', default: 'kube-scheduler', help: 'Name of the Lease' },
  'leader-elect-resource-namespace': {
    type: 'string',
    default: 'kube-system',
    help: 'Namespace of the Lease',
  },
  ...withoutEffect,
} as const satisfies Record<string, FlagSpec>;

export interface SchedulerOptions {
  /** A configuration file may name another. */
  kubeconfig: string | undefined;
  flags: FlagValues<typeof flags>;
}

export function toOptions(values: FlagValues<typeof flags>): SchedulerOptions {
  if (Boolean(values['tls-cert-file']) !== Boolean(values['tls-private-key-file']))
    throw new UsageError('--tls-cert-file and --tls-private-key-file belong together');
  if (values.config && values['policy-config-file'])
    throw new UsageError('--config and --policy-config-file exclude each other');
  return { kubeconfig: values.kubeconfig, flags: values };
}
