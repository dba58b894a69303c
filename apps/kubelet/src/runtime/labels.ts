/** Labels and annotations that the kubelet puts on sandboxes and containers; tools such as crictl read them. */
export const labels = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUID: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
  /** The light node that a sandbox belongs to; only where several nodes share the runtime. */
  nodeName: 'tinkernetes.dev/node',
} as const;

export const annotations = {
  podDeletionGracePeriod: 'io.kubernetes.pod.deletionGracePeriod',
  podTerminationGracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
  containerHash: 'io.kubernetes.container.hash',
  containerRestartCount: 'io.kubernetes.container.restartCount',
  containerTerminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  containerTerminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  containerPorts: 'io.kubernetes.container.ports',
  containerPreStopHandler: 'io.kubernetes.container.preStopHandler',
} as const;

/** Annotations by which the kubelet knows where a Pod came from. */
export const podAnnotations = {
  configSource: 'kubernetes.io/config.source',
  configMirror: 'kubernetes.io/config.mirror',
  configHash: 'kubernetes.io/config.hash',
  configSeen: 'kubernetes.io/config.seen',
} as const;
