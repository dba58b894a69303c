import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { eventually } from '@tinkernetes/component-base/testing';
import { isCriError } from '@tinkernetes/cri';
import { startTestRuntime, type TestRuntime } from '../testing/start-runtime';

describe('the CRI of the mock runtime', () => {
  let node: TestRuntime;

  beforeAll(async () => {
    node = await startTestRuntime();
  });
  afterAll(() => node.stop());

  async function get(ip: string, port: number, path = '/'): Promise<{ status: number; body: string }> {
    const stream = await node.vnet.dial({ host: ip, port });
    return new Promise((resolve, reject) => {
      const sent = request(
        { createConnection: () => stream as never, path, headers: { host: 'web', connection: 'close' } },
        (response) => {
          text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
        },
      );
      sent.once('error', reject);
      sent.end();
    });
  }

  it('says that it is ready once it knows its range', async () => {
    const { status } = await node.runtime.status();
    expect(status?.conditions.map((c) => [c.type, c.status])).toEqual([
      ['RuntimeReady', true],
      ['NetworkReady', true],
    ]);
  });

  it('runs nginx, which answers on its own address and writes its access log', async () => {
    const pod = await node.startPod({ name: 'web', image: 'nginx' });
    expect(pod.ip).toMatch(/^10\.244\.1\./);
    const answer = await get(pod.ip, 80);
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('Welcome to nginx!');
    await eventually(() => expect(node.log(pod)).toMatch(/stdout F .*"GET \/ HTTP\/1.1" 200/));
    await node.runtime.stopContainer({ containerId: pod.containerId, timeout: 5 });
    const { status } = await node.runtime.containerStatus({ containerId: pod.containerId });
    expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 0, reason: 'Completed' });
    await expect(node.vnet.dial({ host: pod.ip, port: 80 })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('gives a Pod in the network of the node its name', async () => {
    const sandbox = {
      hostname: '',
      linux: { securityContext: { namespaceOptions: { network: 'NODE' } } },
    } as const;
    const pod = await node.startPod({ name: 'host', image: 'busybox', args: ['sleep', '3600'], sandbox });
    expect((await node.sh(pod, 'hostname; echo $HOSTNAME')).output).toBe('node-1\nnode-1\n');
  });

  it('fails to pull what nobody defined, as a registry does', async () => {
    const missing = await node.images.pullImage({ image: { image: 'nginx:1.161' } }).catch((e: unknown) => e);
    expect(isCriError(missing, 'NOT_FOUND')).toBe(true);
    const unknown = await node.images.pullImage({ image: { image: 'acme/pay' } }).catch((e: unknown) => e);
    expect(String(unknown)).toContain(
      'pull access denied, repository does not exist or may require authorization',
    );
  });

  it('reports a command that does not exist as runc does', async () => {
    const error = await node
      .startPod({ name: 'bad', image: 'busybox', command: ['nope'] })
      .catch((e: unknown) => e);
    expect(String(error)).toContain('exec: "nope": executable file not found in $PATH');
    const { containers } = await node.runtime.listContainers({
      filter: { state: { state: 'CONTAINER_EXITED' } },
    });
    const failed = containers.find((c) => c.image?.image === 'busybox');
    const { status } = await node.runtime.containerStatus({ containerId: failed?.id ?? '' });
    expect(status).toMatchObject({ exitCode: 128, reason: 'StartError' });
  });

  it('kills a first process that ignores SIGTERM after the grace period', async () => {
    const pod = await node.startPod({ name: 'sleeper', image: 'busybox', command: ['sleep', '3600'] });
    await node.runtime.stopContainer({ containerId: pod.containerId, timeout: 0 });
    const { status } = await node.runtime.containerStatus({ containerId: pod.containerId });
    expect(status).toMatchObject({ exitCode: 137, reason: 'Error' });
  });

  it('ends a shell with one command by its signal, since the command takes its place', async () => {
    const pod = await node.startPod({ name: 'top', image: 'busybox', command: ['sh', '-c', 'top'] });
    await node.runtime.stopContainer({ containerId: pod.containerId, timeout: 60 });
    const { status } = await node.runtime.containerStatus({ containerId: pod.containerId });
    expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 0 });
  });
});
