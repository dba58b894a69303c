import { ConfigMaps, Events, Secrets, ServiceAccounts } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeletFixture } from './testing/kubelet-fixture';

describe('volumes of a pod', () => {
  let kubelet: KubeletFixture;

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start();
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());

  const hostPath = (container: string, path: string) =>
    kubelet.runtime.container(container)?.config.mounts.find((m) => m.containerPath === path)?.hostPath ?? '';

  it('hold a config map through atomic symlinks, and follow its changes', async () => {
    const configMaps = kubelet.client.for(ConfigMaps);
    await configMaps.create(
      { metadata: { name: 'site' }, data: { 'index.html': 'one', skip: 'x' } },
      { namespace: 'default' },
    );
    await kubelet.create('web', {
      volumes: [
        {
          name: 'site',
          configMap: { name: 'site', items: [{ key: 'index.html', path: 'www/index.html', mode: 0o400 }] },
        },
      ],
      containers: [
        { name: 'web-main', image: 'busybox', volumeMounts: [{ name: 'site', mountPath: '/data' }] },
      ],
    });
    await kubelet.phase('web', 'Running');
    const directory = hostPath('web-main', '/data');
    expect(await readFile(join(directory, 'www/index.html'), 'utf8')).toBe('one');
    expect((await stat(join(directory, 'www/index.html'))).mode & 0o777).toBe(0o400);
    expect(await readlink(join(directory, 'www'))).toBe('..data/www');
    const version = await readlink(join(directory, '..data'));
    await configMaps.patch(
      'site',
      { data: { 'index.html': 'two' } },
      { type: 'merge', namespace: 'default' },
    );
    await eventually(async () =>
      expect(await readFile(join(directory, 'www/index.html'), 'utf8')).toBe('two'),
    );
    expect(await readlink(join(directory, '..data'))).not.toBe(version);
  });

  it('wait for a config map that does not exist yet, telling why', async () => {
    await kubelet.create('waiting', { volumes: [{ name: 'late', configMap: { name: 'late' } }] });
    await eventually(async () => {
      const { items } = await kubelet.client
        .for(Events)
        .list({ namespace: 'default', fieldSelector: 'involvedObject.name=waiting' });
      expect(items.map((e) => e.message)).toContain(
        'MountVolume.SetUp failed for volume "late" : configmap "late" not found',
      );
    });
    expect((await kubelet.get('waiting')).status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe(
      'ContainerCreating',
    );
    await kubelet.client
      .for(ConfigMaps)
      .create({ metadata: { name: 'late' }, data: {} }, { namespace: 'default' });
    await kubelet.phase('waiting', 'Running');
  });

  it('project a token, the node’s facts and a secret into one directory', async () => {
    await kubelet.client
      .for(ServiceAccounts)
      .create({ metadata: { name: 'robot' } }, { namespace: 'default' });
    await kubelet.client
      .for(Secrets)
      .create({ metadata: { name: 'keys' }, stringData: { key: 's3cret' } }, { namespace: 'default' });
    await kubelet.create(
      'mixed',
      {
        serviceAccountName: 'robot',
        volumes: [
          {
            name: 'all',
            projected: {
              sources: [
                { serviceAccountToken: { path: 'token', expirationSeconds: 3600, audience: 'vault' } },
                { secret: { name: 'keys' } },
                { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
              ],
            },
          },
          { name: 'scratch', emptyDir: {} },
        ],
        containers: [
          {
            name: 'mixed-main',
            image: 'busybox',
            volumeMounts: [
              { name: 'all', mountPath: '/all', readOnly: true },
              { name: 'scratch', mountPath: '/cache', subPath: 'a/b' },
            ],
          },
        ],
      },
      { labels: { app: 'x', tier: 'y' } },
    );
    await kubelet.phase('mixed', 'Running');
    const directory = hostPath('mixed-main', '/all');
    const [, claims = ''] = (await readFile(join(directory, 'token'), 'utf8')).split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      aud: ['vault'],
      sub: 'system:serviceaccount:default:robot',
    });
    expect(await readFile(join(directory, 'key'), 'utf8')).toBe('s3cret');
    expect(await readFile(join(directory, 'labels'), 'utf8')).toBe('app="x"\ntier="y"');
    expect((await stat(hostPath('mixed-main', '/cache'))).isDirectory()).toBe(true);
    expect(hostPath('mixed-main', '/cache')).toMatch(/kubernetes.io~empty-dir\/scratch\/a\/b$/);
    expect(await readFile(hostPath('mixed-main', '/etc/hosts'), 'utf8')).toMatch(/10\.244\.0\.\d+\tmixed\n/);
  });

  it('refuse a container that names a key that is not there', async () => {
    await kubelet.create('nokey', {
      containers: [
        {
          name: 'c',
          image: 'busybox',
          env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'site', key: 'nope' } } }],
        },
      ],
    });
    await eventually(async () => {
      const waiting = (await kubelet.get('nokey')).status?.containerStatuses?.[0]?.state?.waiting;
      expect(waiting).toEqual({
        reason: 'CreateContainerConfigError',
        message: "couldn't find key nope in ConfigMap default/site",
      });
    });
  });
});
