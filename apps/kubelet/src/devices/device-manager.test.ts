import type { Pod } from '@tinkernetes/api';
import { eventually, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeDevicePlugin } from '../testing/fake-device-plugin';
import { DeviceManager } from './device-manager';
import { PluginRegistrar } from './plugin-registrar';

const resource = 'example.com/gpu';
const podOf = (uid: string, count: number): Pod => ({
  metadata: { name: uid, namespace: 'default', uid },
  spec: { containers: [{ name: 'main', resources: { limits: { [resource]: String(count) } } }] },
});

describe('DeviceManager', () => {
  let directory: string;
  let stopping: AbortController;
  let clock: VirtualClock;
  let plugin: FakeDevicePlugin;
  let active: Set<string>;

  function managerOf(): DeviceManager {
    stopping = new AbortController();
    const { signal } = stopping;
    return new DeviceManager({
      directory,
      registrar: new PluginRegistrar({ directory, logger: silentLogger, signal }),
      clock,
      logger: silentLogger,
      signal: stopping.signal,
      activePods: () => active,
      onChange: () => undefined,
    });
  }
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'devices-'));
    clock = new VirtualClock();
    active = new Set(['a', 'b', 'c']);
    plugin = new FakeDevicePlugin(directory, resource, ['0', '1', '2']);
  });
  afterEach(async () => {
    plugin.stop();
    stopping.abort();
    await rm(directory, { recursive: true, force: true });
  });
  const allocatable = (manager: DeviceManager, count: string) =>
    eventually(() => expect(manager.offered().allocatable[resource]).toBe(count));
  async function started(): Promise<DeviceManager> {
    const manager = managerOf();
    await manager.start();
    await plugin.start();
    await allocatable(manager, '3');
    return manager;
  }
  const idsOf = async (manager: DeviceManager, pod: Pod) => {
    const [container = { name: '' }] = pod.spec.containers;
    return (await manager.options(pod, container)).map(({ envs }) => envs['VISIBLE_DEVICES']);
  };

  it('refuses a Pod when too few are left, also when two ask at the same time', async () => {
    const manager = await started();
    const [first, second] = [podOf('a', 2), podOf('b', 2)];
    const results = await Promise.allSettled([manager.allocate(first), manager.allocate(second)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(manager.allocate(second)).rejects.toThrow(
      `requested number of devices unavailable for ${resource}. Requested: 2, Available: 1`,
    );
    await manager.allocate(first);
    expect(plugin.allocated).toEqual([['0', '1']]);
    active.delete('a');
    await manager.allocate(second);
    expect(await idsOf(manager, second)).toHaveLength(1);
  });

  it('asks the plugin for devices that fit those of an init container', async () => {
    plugin = new FakeDevicePlugin(directory, resource, ['0', '1', '2'], {
      getPreferredAllocationAvailable: true,
    });
    plugin.preferred = ['2', '1', '0'];
    const manager = await started();
    const pod = podOf('a', 2);
    pod.spec.initContainers = [{ name: 'init', resources: { limits: { [resource]: '1' } } }];
    await manager.allocate(pod);
    expect(plugin.choices).toEqual([
      { availableDeviceIDs: ['0', '1', '2'], mustIncludeDeviceIDs: [], allocationSize: 1 },
      { availableDeviceIDs: ['0', '1', '2'], mustIncludeDeviceIDs: ['2'], allocationSize: 2 },
    ]);
    expect(plugin.allocated).toEqual([['2'], ['2', '1']]);
  });

  it('knows after a restart who has what, but gives nothing until the plugin is back', async () => {
    const before = await started();
    await before.allocate(podOf('a', 1));
    const ids = await idsOf(before, podOf('a', 1));
    stopping.abort();
    const manager = managerOf();
    await manager.start();
    expect(manager.offered()).toEqual({ capacity: { [resource]: '0' }, allocatable: { [resource]: '0' } });
    expect(await idsOf(manager, podOf('a', 1))).toEqual(ids);
    await expect(manager.allocate(podOf('b', 1))).rejects.toThrow(
      `can't allocate unregistered device ${resource}`,
    );
    await plugin.start();
    await allocatable(manager, '3');
    await manager.allocate(podOf('b', 2));
    expect([...ids, ...(await idsOf(manager, podOf('b', 2)))].join().split(',').sort()).toEqual([
      '0',
      '1',
      '2',
    ]);
  });

  it('keeps the devices of a plugin that is gone in the capacity for five minutes', async () => {
    const manager = await started();
    plugin.stop();
    await allocatable(manager, '0');
    expect(manager.offered().capacity[resource]).toBe('3');
    await clock.advance(5 * 60_000);
    expect(manager.offered().capacity[resource]).toBe('0');
  });

  it('takes only old sockets away when it starts, and lets nobody else read who has what', async () => {
    await mkdir(join(directory, 'own'));
    await writeFile(join(directory, 'own/file'), 'x');
    await writeFile(join(directory, 'plugin.json'), '{}');
    const old = createServer();
    await new Promise<void>((resolve) => old.listen(join(directory, 'old.sock'), resolve));
    const manager = await started();
    old.close();
    await manager.allocate(podOf('a', 1));
    const names = await readdir(directory);
    expect(names).not.toContain('old.sock');
    expect(names).toEqual(expect.arrayContaining(['own', 'plugin.json']));
    expect(await readFile(join(directory, 'own/file'), 'utf8')).toBe('x');
    const { mode } = await stat(join(directory, 'kubelet_internal_checkpoint'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('starts without its memory when that is damaged', async () => {
    await writeFile(join(directory, 'kubelet_internal_checkpoint'), '{"data":');
    const manager = await started();
    await manager.allocate(podOf('a', 3));
  });
});
