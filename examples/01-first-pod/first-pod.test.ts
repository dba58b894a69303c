import { AppsV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { startCluster, type RunningCluster } from 'tinkernetes';

// A cluster starts in a second or two; on a busy machine it may take long.
jest.setTimeout(180_000);

let cluster: RunningCluster;
let core: CoreV1Api;
let apps: AppsV1Api;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 3 });
  const config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
  apps = config.makeApiClient(AppsV1Api);
});
afterAll(() => cluster?.stop());

/** Asks until the answer satisfies; fails after a minute, a limit for what hangs. */
async function until<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

it('runs a Pod until it has done its work, and keeps its log', async () => {
  await core.createNamespacedPod({
    namespace: 'default',
    body: {
      metadata: { name: 'hello' },
      spec: {
        restartPolicy: 'Never',
        containers: [
          { name: 'main', image: 'busybox', command: ['sh', '-c', 'echo Hello from $(hostname)'] },
        ],
      },
    },
  });
  const pod = await until(
    () => core.readNamespacedPod({ name: 'hello', namespace: 'default' }),
    (p) => p.status?.phase === 'Succeeded',
  );
  expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
  expect(await core.readNamespacedPodLog({ name: 'hello', namespace: 'default' })).toBe('Hello from hello\n');
});

it('rolls a Deployment out over all three nodes', async () => {
  await apps.createNamespacedDeployment({
    namespace: 'default',
    body: {
      metadata: { name: 'web' },
      spec: {
        replicas: 6,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'web', image: 'nginx' }] },
        },
      },
    },
  });
  await until(
    () => apps.readNamespacedDeployment({ name: 'web', namespace: 'default' }),
    (d) => d.status?.availableReplicas === 6,
  );
  const pods = await core.listNamespacedPod({ namespace: 'default', labelSelector: 'app=web' });
  expect(new Set(pods.items.map((p) => p.spec?.nodeName)).size).toBe(3);
});
