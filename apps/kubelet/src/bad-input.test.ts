import { Events, type Pod } from '@tinkernetes/api';
import { parseFlags } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flags, toOptions } from './options';
import { KubeletFixture } from './testing/kubelet-fixture';

describe('a node with bad input', () => {
  let kubelet: KubeletFixture;
  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    // As short as one test needs it, and long enough for all other calls on a busy machine.
    await kubelet.start(['--runtime-request-timeout=5s']);
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());

  const waitingOf = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.waiting;
  const messagesOf = async (name: string, reason: string): Promise<string[]> => {
    const { items } = await kubelet.client.for(Events).list({ namespace: 'default' });
    return items
      .filter((e) => e.involvedObject.name === name && e.reason === reason)
      .map((e) => e.message ?? '');
  };
  /** The node takes other Pods as before. */
  const goesOn = async (name: string) => {
    await kubelet.create(name);
    await kubelet.phase(name, 'Running');
  };

  it('says of an image that is no reference what is wrong with it', async () => {
    await kubelet.create('no-reference', { containers: [{ name: 'c', image: 'UPPER//case' }] });
    await eventually(async () => {
      expect(waitingOf(await kubelet.get('no-reference'))).toMatchObject({
        reason: 'InvalidImageName',
        message: expect.stringContaining('couldn\'t parse image name "UPPER//case"'),
      });
    });
    await goesOn('after-reference');
  });

  it('gives a call up that the runtime does not answer, says so, and tries again', async () => {
    kubelet.runtime.hanging.add('CreateContainer stuck-main');
    await kubelet.create('stuck');
    await eventually(() => kubelet.runtime.calls.includes('CreateContainer stuck-main hangs'));
    await goesOn('beside-stuck');
    await eventually(async () => {
      expect(waitingOf(await kubelet.get('stuck'))).toMatchObject({
        reason: 'CreateContainerError',
        message: 'context deadline exceeded',
      });
    });
    kubelet.runtime.hanging.clear();
    await eventually(async () => expect((await kubelet.get('stuck')).status?.phase).toBe('Running'));
  });

  it('waits for a sandbox twice as long as for other calls, as upstream does', async () => {
    kubelet.runtime.hanging.add('RunPodSandbox slow');
    await kubelet.create('slow');
    await eventually(async () => {
      const [message] = await messagesOf('slow', 'FailedCreatePodSandBox');
      expect(message).toContain('context deadline exceeded');
    });
    kubelet.runtime.hanging.clear();
    await eventually(async () => expect((await kubelet.get('slow')).status?.phase).toBe('Running'));
  });

  it('says why a Pod has no directories when nothing can be written, and makes them when it can', async () => {
    const pods = join(kubelet.directory, 'root/pods');
    // A file in the place of the directory: no permissions stop root, and no disk has to be filled.
    await rename(pods, `${pods}.away`);
    await writeFile(pods, '');
    await kubelet.create('homeless');
    await eventually(async () => {
      const [message] = await messagesOf('homeless', 'FailedToMakePodDataDirectories');
      expect(message).toMatch(/^error making pod data directories: ENOTDIR/);
    });
    expect((await kubelet.get('homeless')).status?.phase).toBe('Pending');
    await rm(pods);
    await rename(`${pods}.away`, pods);
    await eventually(async () => expect((await kubelet.get('homeless')).status?.phase).toBe('Running'));
    await goesOn('after-homeless');
  });

  it('restarts nothing although a checkpoint is damaged', async () => {
    await goesOn('kept');
    const id = kubelet.runtime.container('kept-main')?.id;
    await kubelet.stop();
    // What a kubelet that was killed while it wrote may leave.
    await mkdir(join(kubelet.directory, 'root'), { recursive: true });
    await writeFile(join(kubelet.directory, 'root/allocated_pods_state'), '{"data":');
    await kubelet.start();
    await goesOn('after-damage');
    expect(kubelet.runtime.container('kept-main')?.id).toBe(id);
    expect((await kubelet.get('kept')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });
});

describe('flags', () => {
  it.each([
    ['--read-only-port=10255', '--read-only-port is not offered: only 0 is allowed'],
    ['--eviction-soft=memory.available<1Gi', 'grace period must be specified'],
    ['--shutdown-grace-period-critical-pods=10s', 'must not be longer'],
  ])('refuse %s', async (flag, message) => {
    await expect(toOptions(parseFlags(flags, ['--kubeconfig=x', flag]))).rejects.toThrow(message);
  });

  it.each([
    ['0', 'must be at least 1'],
    ['-1', 'must be at least 1'],
    ['x', 'must be a whole number'],
    ['100000', 'must be at most 5000'],
  ])('refuse --nodes=%s: %s', (count, message) => {
    expect(() => parseFlags(flags, [`--nodes=${count}`])).toThrow(
      `invalid value "${count}" for --nodes: ${message}`,
    );
  });
});
