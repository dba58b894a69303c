import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';

/** Under upstream's names (kube-controller-manager). */
export const flags = {
  kubeconfig: { type: 'string', help: 'Path to a kubeconfig with the identity of the controller manager' },
  controllers: {
    type: 'list',
    default: ['*'],
    help: "Controllers to run: '*' all that are on by default, 'foo' on, '-foo' off",
  },
  'use-service-account-credentials': {
    type: 'boolean',
    default: false,
    help: 'Give each controller the identity of a service account of its own',
  },
  'leader-elect': {
    type: 'boolean',
    default: true,
    help: 'Act only while holding a lease',
  },
  'leader-elect-resource-name': {
    type: 'string',
    default: 'kube-controller-manager',
    help: 'Name of the lease',
  },
  'leader-elect-resource-namespace': { type: 'string', default: 'kube-system', help: 'Its namespace' },
  'leader-elect-lease-duration': {
    type: 'duration',
    default: 15_000,
    help: 'How long a lease is valid that is not renewed',
  },
  'leader-elect-renew-deadline': {
    type: 'duration',
    default: 10_000,
    help: 'How long the leader tries to renew',
  },
  'leader-elect-retry-period': { type: 'duration', default: 2_000, help: 'Time between tries' },
  'work-queue': {
    type: 'string',
    default: 'in-process',
    choices: ['in-process', 'bullmq'],
    help: 'Where keys wait',
  },
  'bull-board-port': {
    type: 'number',
    default: 0,
    min: 0,
    max: 65535,
    help: 'Port of Bull Board, a web page with the queues of --work-queue=bullmq; 0: none',
  },
  redis: { type: 'string', help: 'Redis of the bullmq work queue, redis://HOST:PORT' },
  'bind-address': { type: 'string', default: '127.0.0.1', help: 'Address of /healthz and /metrics' },
  'secure-port': {
    type: 'number',
    default: 10257,
    min: 0,
    max: 65535,
    help: 'Port of /healthz and /metrics; 0: none',
  },
  'allocate-node-cidrs': { type: 'boolean', default: false, help: 'Give each Node a range of Pod addresses' },
  'cluster-cidr': {
    type: 'list',
    default: ['10.244.0.0/16'],
    help: 'Ranges that Pod addresses are taken from: one, or one of IPv4 and one of IPv6',
  },
  'service-cluster-ip-range': {
    type: 'list',
    default: [],
    help: 'Ranges of Services, which no Node gets a part of',
  },
  'node-cidr-mask-size': {
    type: 'number',
    default: 0,
    min: 0,
    max: 128,
    help: "Prefix length of a Node's range in clusters of one family; 0: 24 for IPv4, 64 for IPv6",
  },
  'node-cidr-mask-size-ipv4': {
    type: 'number',
    default: 0,
    min: 0,
    max: 32,
    help: "Prefix length of a Node's IPv4 range; 0: 24",
  },
  'node-cidr-mask-size-ipv6': {
    type: 'number',
    default: 0,
    min: 0,
    max: 128,
    help: "Prefix length of a Node's IPv6 range; 0: 64",
  },
  'cluster-signing-cert-file': {
    type: 'string',
    help: 'Certificate of the authority that signs requests (PEM)',
  },
  'cluster-signing-key-file': { type: 'string', help: 'Its private key (PEM)' },
  'cluster-signing-duration': {
    type: 'duration',
    default: 365 * 24 * 3600_000,
    help: 'Longest validity of what is signed',
  },
  'root-ca-file': {
    type: 'string',
    help: 'Authority that Pods trust, published as ConfigMap kube-root-ca.crt',
  },
  'service-account-private-key-file': {
    type: 'string',
    help: 'Key that signs tokens in Secrets of type kubernetes.io/service-account-token (PEM)',
  },
  'legacy-service-account-token-clean-up-period': {
    type: 'duration',
    default: 365 * 24 * 3600_000,
    help: "How long a ServiceAccount's token may be unused before it is marked as invalid, and then deleted",
  },
  'node-monitor-period': { type: 'duration', default: 5_000, help: 'How often node health is looked at' },
  'node-monitor-grace-period': { type: 'duration', default: 50_000, help: 'How long a node may be silent' },
  'node-startup-grace-period': {
    type: 'duration',
    default: 60_000,
    help: 'How long a starting node may be silent',
  },
  'node-eviction-rate': {
    type: 'string',
    default: '0.1',
    help: 'Nodes per second from which Pods are evicted in a healthy zone',
  },
  'secondary-node-eviction-rate': { type: 'string', default: '0.01', help: 'The same in an unhealthy zone' },
  'unhealthy-zone-threshold': {
    type: 'string',
    default: '0.55',
    help: 'Share of silent nodes that makes a zone unhealthy',
  },
  'large-cluster-size-threshold': {
    type: 'number',
    default: 50,
    min: 0,
    help: 'Smaller clusters stop evictions in unhealthy zones',
  },
  'terminated-pod-gc-threshold': {
    type: 'number',
    default: 12_500,
    min: 0,
    help: 'Terminated Pods kept; 0: all',
  },
  'resource-quota-sync-period': {
    type: 'duration',
    default: 300_000,
    help: 'How often all that a quota limits is counted anew',
  },
  'horizontal-pod-autoscaler-sync-period': {
    type: 'duration',
    default: 15_000,
    help: 'How often autoscalers look at metrics',
  },
  'horizontal-pod-autoscaler-downscale-stabilization': {
    type: 'duration',
    default: 300_000,
    help: 'How long the highest recommendation holds',
  },
  'horizontal-pod-autoscaler-tolerance': {
    type: 'string',
    default: '0.1',
    help: 'Ratio difference that is ignored',
  },
  'horizontal-pod-autoscaler-cpu-initialization-period': {
    type: 'duration',
    default: 300_000,
    help: "How long after its start a Pod's CPU samples count only once it is ready",
  },
  'horizontal-pod-autoscaler-initial-readiness-delay': {
    type: 'duration',
    default: 30_000,
    help: 'How long after its start a Pod that turns unready may still be starting',
  },
  'disable-force-detach-on-timeout': {
    type: 'boolean',
    default: false,
    help: 'Never detach a volume that its node lists as in use, however long the node is unhealthy',
  },
  'hostpath-csi-state-dir': {
    type: 'string',
    default: '',
    help: 'Where the volumes of the built-in CSI driver hostpath.csi.tinkernetes.dev are; empty: no such driver',
  },
  'hostpath-csi-per-node': {
    type: 'boolean',
    default: false,
    help: 'Nodes do not share that directory: each has one of its own, and a volume is on one node',
  },
  'concurrent-ephemeralvolume-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'Pods whose ephemeral volumes are worked on at once',
  },
  'concurrent-horizontal-pod-autoscaler-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'HorizontalPodAutoscalers worked on at once',
  },
  'concurrent-deployment-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'Deployments worked on at once',
  },
  'concurrent-replicaset-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'ReplicaSets worked on at once',
  },
  'concurrent-rc-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'ReplicationControllers worked on at once',
  },
  'concurrent-statefulset-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'StatefulSets worked on at once',
  },
  'concurrent-daemonset-syncs': { type: 'number', default: 2, min: 1, help: 'DaemonSets worked on at once' },
  'concurrent-job-syncs': { type: 'number', default: 5, min: 1, help: 'Jobs worked on at once' },
  'concurrent-cron-job-syncs': { type: 'number', default: 5, min: 1, help: 'CronJobs worked on at once' },
  'concurrent-endpoint-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'Services whose Endpoints are worked on at once',
  },
  'concurrent-service-endpoint-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'Services whose EndpointSlices are worked on at once',
  },
  'mirroring-concurrent-service-endpoint-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'Services whose Endpoints are mirrored at once',
  },
  'concurrent-ttl-after-finished-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'Finished Jobs worked on at once',
  },
  'concurrent-resource-claim-syncs': {
    type: 'number',
    default: 50,
    min: 1,
    help: 'ResourceClaims, and Pods that need some, worked on at once',
  },
  'concurrent-namespace-syncs': { type: 'number', default: 10, min: 1, help: 'Namespaces worked on at once' },
  'concurrent-gc-syncs': { type: 'number', default: 20, min: 1, help: 'Garbage collector workers' },
  'concurrent-serviceaccount-token-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'ServiceAccounts worked on at once',
  },
  'concurrent-resource-quota-syncs': {
    type: 'number',
    default: 5,
    min: 1,
    help: 'ResourceQuotas worked on at once',
  },
} as const satisfies Record<string, FlagSpec>;

export type ControllerManagerFlags = FlagValues<typeof flags>;

export interface ControllerManagerOptions {
  kubeconfig: string;
  flags: ControllerManagerFlags;
}

export function toOptions(values: ControllerManagerFlags): ControllerManagerOptions {
  if (!values.kubeconfig)
    throw new UsageError(
      '--kubeconfig is needed: the file that names the API server and the identity to use',
    );
  if (values['work-queue'] === 'bullmq' && !values.redis)
    throw new UsageError('--work-queue=bullmq needs --redis=redis://HOST:PORT');
  if (values['bull-board-port'] && values['work-queue'] !== 'bullmq')
    throw new UsageError('--bull-board-port shows the queues of --work-queue=bullmq only');
  if (Boolean(values['cluster-signing-cert-file']) !== Boolean(values['cluster-signing-key-file'])) {
    throw new UsageError(
      '--cluster-signing-cert-file and --cluster-signing-key-file belong together: give both or none',
    );
  }
  return { kubeconfig: values.kubeconfig, flags: values };
}
