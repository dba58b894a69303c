import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Containerd, containerdMissing } from '../../../apps/kubelet/src/testing/containerd';
import { useCluster } from '../../harness/cluster-fixture';

const missing = containerdMissing();
const suite = missing ? describe.skip : describe;

/** Nothing is emulated here: the node's containers are Linux's. */
suite(`the kubelet on containerd and runc${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'tk-ctd-'));
  const containerd = new Containerd(directory);
  beforeAll(() => containerd.start());
  const { run, attempt, apply, read, until } = useCluster([
    '--nodes=1',
    '--ephemeral',
    '--without=mock-runtime,kube-proxy,cluster-dns',
    `--extra-config=kubelet.container-runtime-endpoint=${containerd.endpoint}`,
    // Its Pods are in the network of the machine.
    '--extra-config=kubelet.vnet-endpoint=',
  ]);
  afterAll(async () => {
    await containerd.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const container = (name: string, script: string) => ({
    name,
    image: Containerd.image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', script],
  });
  const status = (name: string, field: string) =>
    read('pod/real', `{.status.containerStatuses[?(@.name=="${name}")].${field}}`);

  it('is a node of that runtime', async () => {
    const version = '{.items[*].status.nodeInfo.containerRuntimeVersion}';
    await until(async () => expect(await read('nodes', version)).toMatch(/^containerd:\/\//));
    await run('wait --for=condition=Ready node/node-1 --timeout=120s');
  });

  it('runs a Pod of two containers, with a volume, logs and commands', async () => {
    await run('create configmap settings --from-literal=greeting=hello');
    const volumeMounts = [{ name: 'settings', mountPath: '/settings' }];
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'real' },
      spec: {
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
        containers: [
          { ...container('steady', 'cat /settings/greeting; echo; sleep 1000'), volumeMounts },
          container('twice', 'test -e /dev/shm/seen && sleep 1000; echo seen > /dev/shm/seen; exit 3'),
        ],
      },
    });
    await run('wait --for=condition=Ready pod/real --timeout=120s');
    expect(await run('logs real -c steady')).toBe('hello\n');
    expect(await run('exec real -c steady -- hostname')).toBe('real\n');
    expect((await attempt(['exec', 'real', '-c', 'steady', '--', 'sh', '-c', 'exit 7'])).code).toBe(7);
    expect(await run('exec -i real -c steady -- cat', 'through\n')).toBe('through\n');
    expect(await status('steady', 'containerID')).toMatch(/^containerd:\/\//);
    expect(await read('pod/real', '{.status.podIP}')).toMatch(/^10\.199\.0\./);
  });

  it('starts a container again that has failed, and only that', async () => {
    await until(async () => expect(await status('twice', 'restartCount')).toBe('1'));
    expect(await status('twice', 'lastState.terminated.exitCode')).toBe('3');
    expect(await status('steady', 'restartCount')).toBe('0');
  });

  it('ends the Pod when it is deleted', async () => {
    await run('delete pod real --timeout=120s');
    expect((await attempt('get pod real')).stderr).toContain('not found');
  });
});
