import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { CoreV1Api, Exec, KubeConfig, type V1Status } from '@kubernetes/client-node';
import { startCluster, type RunningCluster } from 'tinkernetes';

// A cluster starts in a second or two; on a busy machine it may take long.
jest.setTimeout(180_000);

const namespace = 'default';
let cluster: RunningCluster;
let core: CoreV1Api;
const config = new KubeConfig();

beforeAll(async () => {
  cluster = await startCluster({ images: join(__dirname, 'images.ts') });
  config.loadFromString(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});
afterAll(() => cluster?.stop());

/** Asks until the answer satisfies; fails after a minute, a limit for what hangs. */
async function until<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const create = (name: string, image: string, args: string[]) =>
  core.createNamespacedPod({
    namespace,
    body: { metadata: { name }, spec: { restartPolicy: 'Never', containers: [{ name, image, args }] } },
  });
const statusOf = async (name: string) => (await core.readNamespacedPod({ name, namespace })).status;

/** As `kubectl exec shop -- COMMAND`: how it ended and what it wrote. */
async function exec(command: string[]): Promise<[string | undefined, string]> {
  const output = new PassThrough();
  const status = await new Promise<V1Status>((resolve, reject) => {
    new Exec(config)
      .exec(namespace, 'shop', 'shop', command, output, null, null, false, resolve)
      .catch(reject);
  });
  return [status.status, String(output.read() ?? '')];
}

it('runs a program of an own image and stops it when the Pod is deleted', async () => {
  await create('shop', 'acme/shop:1.1', ['USD']);
  const log = () => core.readNamespacedPodLog({ name: 'shop', namespace }).catch(() => '');
  await until(log, (text) => text.includes('order for 3 USD'));
  const [status, earned] = await exec(['cat', '/tmp/earned']);
  expect([status, earned]).toEqual(['Success', expect.stringMatching(/^\d+\n$/)]);
  await core.deleteNamespacedPod({ name: 'shop', namespace });
  await until(
    () => core.listNamespacedPod({ namespace }),
    ({ items }) => items.every(({ metadata }) => metadata?.name !== 'shop'),
  );
});

it('reports the exit code that a program returns, and refuses a tag that nobody defined', async () => {
  await create('flaky', 'acme/flaky', ['42']);
  const failed = await until(
    () => statusOf('flaky'),
    (status) => status?.phase === 'Failed',
  );
  expect(failed?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 42, reason: 'Error' });
  await create('mistyped', 'acme/shop:9.9', []);
  await until(
    () => statusOf('mistyped'),
    (status) =>
      /ErrImagePull|ImagePullBackOff/.test(status?.containerStatuses?.[0]?.state?.waiting?.reason ?? ''),
  );
});
