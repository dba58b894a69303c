import type { FlagSpec } from '@tinkernetes/component-base';

/** Under upstream's names, where upstream has them. */
export const flags = {
  address: { type: 'string', default: '0.0.0.0', help: 'The IP address for the kubelet to serve on' },
  'allowed-unsafe-sysctls': {
    type: 'list',
    help: 'Sysctls besides the safe ones that Pods may set, e.g. kernel.msg*,net.core.somaxconn',
  },
  'bootstrap-kubeconfig': {
    type: 'string',
    help: 'Kubeconfig used to ask for a client certificate when --kubeconfig does not exist yet',
  },
  'cert-dir': { type: 'string', help: 'Directory of the TLS certificates (default <root-dir>/pki)' },
  'client-ca-file': {
    type: 'string',
    help: 'Clients with a certificate of this authority are authenticated',
  },
  'cluster-dns': { type: 'list', help: 'IP addresses of the cluster DNS server' },
  'cluster-domain': { type: 'string', default: 'cluster.local', help: 'Domain of this cluster' },
  config: { type: 'string', help: 'File with a KubeletConfiguration; flags go before it' },
  'container-runtime-endpoint': {
    type: 'string',
    default: 'unix:///run/containerd/containerd.sock',
    help: 'The endpoint of the CRI runtime service',
  },
  'image-service-endpoint': {
    type: 'string',
    help: 'The endpoint of the CRI image service (default: the runtime’s)',
  },
  'hostname-override': { type: 'string', help: 'Use this as the node name instead of the host name' },
  kubeconfig: { type: 'string', help: 'How to reach the API server' },
  'eviction-hard': {
    type: 'list',
    default: ['memory.available<100Mi', 'nodefs.available<10%', 'nodefs.inodesFree<5%'],
    help: 'Pods are evicted when these thresholds are crossed',
  },
  'eviction-soft': {
    type: 'list',
    help: 'Pods are evicted when these thresholds stay crossed for their grace periods',
  },
  'eviction-soft-grace-period': {
    type: 'list',
    help: 'Grace periods of --eviction-soft thresholds, e.g. memory.available=1m30s',
  },
  'eviction-max-pod-grace-period': {
    type: 'number',
    default: 0,
    min: 0,
    help: 'Most seconds that Pods get to end when a soft threshold is met; 0: a second',
  },
  'eviction-minimum-reclaim': {
    type: 'list',
    help: 'What an eviction has to bring beyond its threshold, e.g. nodefs.available=1Gi',
  },
  'eviction-pressure-transition-period': {
    type: 'duration',
    default: 300_000,
    help: 'How long the node stays under pressure after its threshold was last crossed',
  },
  'event-qps': { type: 'number', default: 50, min: 0, help: 'Most events a second; 0: no limit' },
  'event-burst': { type: 'number', default: 100, min: 1, help: 'Most events at once, where --event-qps > 0' },
  'image-gc-high-threshold': {
    type: 'number',
    default: 85,
    min: 0,
    max: 100,
    help: 'Percent of disk usage after which unused images are deleted; 100: never',
  },
  'image-gc-low-threshold': {
    type: 'number',
    default: 80,
    min: 0,
    max: 100,
    help: 'Percent of disk usage down to which unused images are deleted',
  },
  'maximum-dead-containers': {
    type: 'number',
    default: -1,
    help: 'Number of ended containers to keep on the node; negative: any number',
  },
  'maximum-dead-containers-per-container': {
    type: 'number',
    default: 1,
    help: 'Number of earlier runs of each container to keep; negative: all',
  },
  'minimum-container-ttl-duration': {
    type: 'duration',
    default: 0,
    help: 'An ended container is kept at least this long',
  },
  'minimum-image-ttl-duration': {
    type: 'duration',
    default: 120_000,
    help: 'Younger images are not deleted',
  },
  'kube-reserved': {
    type: 'list',
    help: "What of the node is for Kubernetes' own daemons, e.g. cpu=200m,memory=500Mi,ephemeral-storage=1Gi",
  },
  'system-reserved': {
    type: 'list',
    help: 'What of the node is for the system and its daemons, e.g. cpu=200m,memory=500Mi,ephemeral-storage=1Gi',
  },
  'max-pods': { type: 'number', default: 110, min: 1, help: 'Number of Pods that can run on this node' },
  'node-ip': { type: 'list', help: 'IP addresses of the node' },
  nodes: {
    type: 'number',
    min: 1,
    max: 5000,
    help: 'Run this many light nodes NAME-0, NAME-1 … over the one runtime (default: one ordinary node)',
  },
  'node-labels': { type: 'list', help: 'key=value labels to add when registering the node' },
  'pod-manifest-path': { type: 'string', help: 'File or directory of static Pod manifests' },
  'file-check-frequency': {
    type: 'duration',
    default: 20_000,
    help: 'How often static Pod manifests are read again even if no change was seen',
  },
  'manifest-url': { type: 'string', help: 'URL of static Pod manifests' },
  'manifest-url-header': {
    type: 'list',
    help: 'name:value HTTP headers for --manifest-url; may be given several times',
  },
  'http-check-frequency': {
    type: 'duration',
    default: 20_000,
    help: 'How often --manifest-url is asked',
  },
  port: { type: 'number', default: 10250, min: 0, max: 65535, help: 'The port to serve on; 0: any free one' },
  'read-only-port': { type: 'number', default: 0, min: 0, max: 65535, help: 'Not offered; must be 0' },
  'register-node': { type: 'boolean', default: true, help: 'Register the node with the API server' },
  'register-with-taints': { type: 'list', help: 'key=value:effect taints to register the node with' },
  'resolv-conf': {
    type: 'string',
    default: '/etc/resolv.conf',
    help: 'Resolver configuration for Pods of DNS policy Default',
  },
  'root-dir': { type: 'string', default: '/var/lib/kubelet', help: 'Directory for kubelet files' },
  'runtime-request-timeout': {
    type: 'duration',
    default: 120_000,
    help: 'Timeout of runtime requests other than long ones',
  },
  'serialize-image-pulls': { type: 'boolean', default: true, help: 'Pull images one at a time' },
  'shutdown-grace-period': {
    type: 'duration',
    default: 0,
    help: 'How long Pods get to end when the node shuts down (SIGPWR, see the README); 0: graceful shutdown is off',
  },
  'shutdown-grace-period-critical-pods': {
    type: 'duration',
    default: 0,
    help: 'The last part of --shutdown-grace-period, which is for critical Pods',
  },
  'sync-frequency': { type: 'duration', default: 20_000, help: 'At most this long between looks at a Pod' },
  'node-status-update-frequency': {
    type: 'duration',
    default: 10_000,
    help: 'How often the node status is computed and the lease renewed',
  },
  'tls-cert-file': { type: 'string', help: 'Serving certificate (default: a self-signed one in --cert-dir)' },
  'tls-private-key-file': { type: 'string', help: 'Private key of --tls-cert-file' },
  'vnet-endpoint': {
    type: 'string',
    help: 'Socket of the node’s emulated network; left out: the host’s network',
  },
} as const satisfies Record<string, FlagSpec>;
