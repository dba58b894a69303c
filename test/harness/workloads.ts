/** Objects as the tests of controllers apply them. */
export interface PodOptions {
  readonly image?: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  /** More of the Pod's spec. */
  readonly spec?: object;
  /** More of the container. */
  readonly container?: object;
}

/** A Pod that runs `command`, which a shell does that ends at once when it is asked to. */
export const podSpec = (
  command: string,
  { image = 'busybox', restartPolicy = 'Always', spec, container }: PodOptions = {},
) => ({
  restartPolicy,
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'main', image, command: ['sh', '-c', command], ...container }],
  ...spec,
});

/** Never becomes ready: nobody has the image. */
export const brokenImage = 'registry.invalid/nothing:1';

/** A workload of group apps whose Pods, labelled `app: NAME`, only wait. */
export const workload = (kind: string, name: string, spec: object = {}, pod: PodOptions = {}) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: podSpec('sleep 3600', pod) },
    ...spec,
  },
});

/** Its Pods are never restarted, unless `pod` says so. */
export const job = (name: string, command: string, spec: object = {}, pod: PodOptions = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: { spec: podSpec(command, { restartPolicy: 'Never', ...pod }) }, ...spec },
});
