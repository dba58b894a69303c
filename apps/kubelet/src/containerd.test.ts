import { ConfigMaps, Pods } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { request as httpsRequest } from 'node:https';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Containerd, containerdMissing } from './testing/containerd';
import { KubeletFixture } from './testing/kubelet-fixture';

const missing = containerdMissing();
const suite = missing ? describe.skip : describe;

suite(`the same kubelet on containerd and runc${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let kubelet: KubeletFixture;
  let containerd: Containerd;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'containerd-'));
    containerd = new Containerd(directory);
    await containerd.start();
    kubelet = await KubeletFixture.create();
    await kubelet.start([`--container-runtime-endpoint=${containerd.endpoint}`]);
    await kubelet.assignPodCIDR();
  });
  afterAll(async () => {
    await kubelet.close();
    await containerd.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('runs a pod of two containers with logs, commands, restarts and an end', async () => {
    await kubelet.client
      .for(ConfigMaps)
      .create(
        { metadata: { name: 'settings' }, data: { greeting: 'from a file\n' } },
        { namespace: 'default' },
      );
    await kubelet.create('real', {
      terminationGracePeriodSeconds: 1,
      volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
      containers: [
        {
          name: 'steady',
          image: Containerd.image,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', 'echo hello $WHO; cat /settings/greeting; echo up > /tmp/up; sleep 1000'],
          env: [{ name: 'WHO', value: 'world' }],
          volumeMounts: [{ name: 'settings', mountPath: '/settings' }],
          readinessProbe: { exec: { command: ['cat', '/tmp/up'] } },
        },
        {
          name: 'crashing',
          image: Containerd.image,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', 'sleep 1; echo last words > /dev/termination-log; exit 3'],
        },
      ],
    });
    const statusOf = async (name: string) =>
      (await kubelet.get('real')).status?.containerStatuses?.find((s) => s.name === name);
    await eventually(async () =>
      expect(await statusOf('steady')).toMatchObject({ ready: true, restartCount: 0 }),
    );
    await eventually(async () => {
      const status = await statusOf('crashing');
      expect(status?.restartCount).toBeGreaterThan(0);
      expect(status?.lastState?.terminated).toMatchObject({ exitCode: 3, message: 'last words\n' });
    });
    const { status } = await kubelet.get('real');
    expect(status?.podIP).toMatch(/^10\.199\.0\./);
    expect((await statusOf('steady'))?.containerID).toMatch(/^containerd:\/\//);
    expect(await call('GET', '/containerLogs/default/real/steady')).toBe('hello world\nfrom a file\n');
    expect(await call('POST', '/run/default/real/steady?cmd=hostname')).toBe('real\n');
    await kubelet.client.for(Pods).delete('real', { namespace: 'default' });
    await eventually(async () => {
      const gone = await kubelet.get('real').catch((error: unknown) => error);
      expect(isNotFound(gone)).toBe(true);
    });
  });

  async function call(method: string, path: string): Promise<string> {
    const who = await kubelet.apiServer.configFor('kube-apiserver-kubelet-client', 'system:masters');
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        {
          host: '127.0.0.1',
          port: kubelet.port,
          method,
          path,
          cert: who.certData,
          key: who.keyData,
          rejectUnauthorized: false,
          agent: false,
        },
        (response) => {
          let body = '';
          response.on('data', (chunk: Buffer) => (body += chunk.toString()));
          response.on('end', () => resolve(body));
        },
      );
      request.on('error', reject).end();
    });
  }
});
