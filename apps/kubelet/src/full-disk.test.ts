import { ConfigMaps, Events, Nodes, Pods } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeletFixture, nodeName } from './testing/kubelet-fixture';

const mount = (path: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path]).status === 0;
const unmount = (path: string) => spawnSync('umount', ['-l', path]);

/** A small disk of one's own takes the right to mount: root outside of most containers. */
function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'mount-'));
  const works = mount(path);
  if (works) unmount(path);
  rmSync(path, { recursive: true });
  return works;
}

(canMount() ? describe : describe.skip)('a node whose disk is really full (needs the right to mount)', () => {
  let kubelet: KubeletFixture;
  let root: string;
  const flags = ['--node-status-update-frequency=100ms', '--eviction-pressure-transition-period=0s'];

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    root = join(kubelet.directory, 'root');
    mkdirSync(root);
    if (!mount(root)) throw new Error('the disk could not be mounted');
    await kubelet.start(flags);
    await kubelet.assignPodCIDR();
    const data = { big: 'x'.repeat(500_000) };
    await kubelet.client
      .for(ConfigMaps)
      .create({ metadata: { name: 'big' }, data }, { namespace: 'default' });
  });
  afterAll(async () => {
    await kubelet?.stop();
    unmount(root);
    await kubelet?.close();
  });

  function fill(): void {
    try {
      for (let i = 0; ; i++) writeFileSync(join(root, `junk-${i}`), Buffer.alloc(64 * 1024));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
  const free = () => spawnSync('sh', ['-c', `rm -f '${root}'/junk-*`]);
  const needsSpace = (name: string) =>
    kubelet.create(name, {
      volumes: [{ name: 'config', configMap: { name: 'big' } }],
      containers: [
        { name: `${name}-main`, image: 'busybox', volumeMounts: [{ name: 'config', mountPath: '/c' }] },
      ],
    });
  const pressure = async () =>
    (await kubelet.client.for(Nodes).get(nodeName)).status?.conditions?.find(
      (c) => c.type === 'DiskPressure',
    );

  it('says so in the Pod’s events, keeps what runs, and starts the Pod when there is space again', async () => {
    await kubelet.create('before');
    await kubelet.phase('before', 'Running');
    fill();
    await needsSpace('waits');
    await eventually(async () => {
      const { items } = await kubelet.client.for(Events).list({ namespace: 'default' });
      const messages = items.filter((e) => e.involvedObject.name === 'waits').map((e) => e.message);
      expect(messages.join('\n')).toContain('ENOSPC: no space left on device');
    });
    expect((await kubelet.get('waits')).status?.phase).toBe('Pending');
    expect((await kubelet.get('before')).status?.phase).toBe('Running');
    free();
    // Any change of the Pod has it looked at before its time.
    const labels = { look: 'again' };
    await kubelet.client
      .for(Pods)
      .patch('waits', { metadata: { labels } }, { type: 'merge', namespace: 'default' });
    await kubelet.phase('waits', 'Running');
  });

  it('has DiskPressure while the disk is full, and takes no Pods then', async () => {
    await kubelet.stop();
    await kubelet.start([...flags, '--eviction-hard=nodefs.available<10%']);
    await eventually(async () => expect((await pressure())?.status).toBe('False'));
    fill();
    await eventually(async () =>
      expect(await pressure()).toMatchObject({ status: 'True', reason: 'KubeletHasDiskPressure' }),
    );
    await kubelet.create('late');
    expect((await kubelet.phase('late', 'Failed')).status).toMatchObject({
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [DiskPressure]. ',
    });
    free();
    await eventually(async () => expect((await pressure())?.status).toBe('False'));
    await kubelet.create('after');
    await kubelet.phase('after', 'Running');
  });
});
