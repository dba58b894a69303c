import { Events, Nodes, type Container, type Pod } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { join } from 'node:path';
import { askPodResources } from './testing/ask-pod-resources';
import { FakeDevicePlugin, register } from './testing/fake-device-plugin';
import { KubeletFixture, nodeName } from './testing/kubelet-fixture';

describe('device plugins', () => {
  let kubelet: KubeletFixture;
  let directory: string;
  const plugins: FakeDevicePlugin[] = [];

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    directory = join(kubelet.directory, 'root/device-plugins');
    await kubelet.start();
    await kubelet.assignPodCIDR();
  });
  afterAll(async () => {
    for (const plugin of plugins) plugin.stop();
    await kubelet.close();
  });

  async function startPlugin(...args: [string, readonly string[], object?]): Promise<FakeDevicePlugin> {
    const plugin = new FakeDevicePlugin(directory, ...args);
    plugins.push(plugin);
    await plugin.start();
    return plugin;
  }
  const offers = (resource: string, capacity: number, allocatable: number) =>
    eventually(async () => {
      const { status } = await kubelet.client.for(Nodes).get(nodeName);
      expect([status?.capacity?.[resource], status?.allocatable?.[resource]]).toEqual([
        String(capacity),
        String(allocatable),
      ]);
    });
  const wants = (name: string, resource: string, count: number): Container => ({
    name,
    image: 'busybox',
    resources: { limits: { [resource]: String(count) }, requests: { [resource]: String(count) } },
  });
  const configOf = (name: string) =>
    eventually(() => {
      const config = kubelet.runtime.container(name)?.config;
      if (!config) throw new Error(`there is no container ${name}`);
      return config;
    });
  const envOf = async (name: string, key: string) =>
    (await configOf(name)).envs.find((env) => env.key === key)?.value.toString();
  const failed = (name: string): Promise<Pod> => kubelet.phase(name, 'Failed');

  it('show in the node’s capacity, and broken devices in its allocatable resources no more', async () => {
    const plugin = await startPlugin('example.com/shown', ['a', 'b', 'c']);
    await offers('example.com/shown', 3, 3);
    plugin.offer(['a', 'b', 'c', 'd'], ['d', 'a']);
    await offers('example.com/shown', 4, 2);
    plugin.stop();
    await offers('example.com/shown', 4, 0);
    await plugin.start();
    await offers('example.com/shown', 4, 4);
  });

  it('give a container its devices, with what it needs to use them', async () => {
    const plugin = await startPlugin('example.com/gpu', ['gpu-0', 'gpu-1', 'gpu-2'], {
      preStartRequired: true,
      getPreferredAllocationAvailable: true,
    });
    plugin.preferred = ['gpu-2', 'gpu-0'];
    await offers('example.com/gpu', 3, 3);
    const container = wants('uses-main', 'example.com/gpu', 2);
    await kubelet.create('uses', {
      containers: [{ ...container, env: [{ name: 'OWN', value: 'x' }] }],
    });
    const config = await configOf('uses-main');
    expect(await envOf('uses-main', 'VISIBLE_DEVICES')).toBe('gpu-2,gpu-0');
    expect(config.devices).toEqual([
      { containerPath: '/dev/gpu-2', hostPath: '/dev/gpu-2', permissions: 'rw' },
      { containerPath: '/dev/gpu-0', hostPath: '/dev/gpu-0', permissions: 'rw' },
    ]);
    expect(config.mounts).toContainEqual(
      expect.objectContaining({ containerPath: '/driver', hostPath: directory, readonly: true }),
    );
    expect(config.annotations['example.com/devices']).toBe('gpu-2,gpu-0');
    expect(config.CDIDevices.map(({ name }) => name)).toEqual([
      'example.com/kind=gpu-2',
      'example.com/kind=gpu-0',
    ]);
    expect(plugin.started).toEqual([['gpu-2', 'gpu-0']]);

    await kubelet.create('late', { containers: [wants('late-main', 'example.com/gpu', 2)] });
    // The second where the kubelet does not know of its own report yet.
    expect((await failed('late')).status?.reason).toMatch(
      /^(OutOfexample.com\/gpu|UnexpectedAdmissionError)$/,
    );
  });

  it('give the devices of an init container to those after it, and of an ended Pod to the next', async () => {
    const plugin = await startPlugin('example.com/one', ['only']);
    await offers('example.com/one', 1, 1);
    await kubelet.create('reuse', {
      restartPolicy: 'Never',
      initContainers: [wants('reuse-init', 'example.com/one', 1)],
      containers: [wants('reuse-main', 'example.com/one', 1)],
    });
    const runs = (name: string) =>
      eventually(() => expect(kubelet.runtime.container(name)?.state).toBe('CONTAINER_RUNNING'));
    await runs('reuse-init');
    kubelet.runtime.exit('reuse-init', 0);
    await runs('reuse-main');
    expect(await envOf('reuse-main', 'VISIBLE_DEVICES')).toBe('only');
    kubelet.runtime.exit('reuse-main', 0);
    await kubelet.phase('reuse', 'Succeeded');
    await kubelet.create('next', { containers: [wants('next-main', 'example.com/one', 1)] });
    expect(await envOf('next-main', 'VISIBLE_DEVICES')).toBe('only');
    expect(plugin.allocated.flat().every((id) => id === 'only')).toBe(true);
  });

  it('are told of by the pod-resources API: who has which, which there are, and of one Pod', async () => {
    await startPlugin('example.com/told', ['t-0', 't-1']);
    await offers('example.com/told', 2, 2);
    await kubelet.create('told', { containers: [wants('told-main', 'example.com/told', 1)] });
    const [given = ''] = [await envOf('told-main', 'VISIBLE_DEVICES')];
    const own = {
      name: 'told',
      namespace: 'default',
      containers: [
        expect.objectContaining({
          name: 'told-main',
          devices: [expect.objectContaining({ resourceName: 'example.com/told', deviceIds: [given] })],
        }),
      ],
    };
    const socket = join(kubelet.directory, 'root/pod-resources/kubelet.sock');
    expect(await askPodResources(socket, 'list')).toMatchObject({
      podResources: expect.arrayContaining([own]) as unknown,
    });
    const request = { podName: 'told', podNamespace: 'default' };
    expect(await askPodResources(socket, 'get', request)).toMatchObject({ podResources: own });
    await expect(askPodResources(socket, 'get', { ...request, podName: 'none' })).rejects.toThrow(
      'pod none in namespace default not found',
    );
    const { devices } = (await askPodResources(socket, 'getAllocatableResources')) as {
      devices: { resourceName: string; deviceIds: string[] }[];
    };
    const ids = devices.filter(({ resourceName }) => resourceName === 'example.com/told');
    expect(ids.flatMap(({ deviceIds }) => deviceIds).sort()).toEqual(['t-0', 't-1']);
  });

  it('fail the Pod when the plugin does', async () => {
    const plugin = await startPlugin('example.com/broken', ['x']);
    plugin.refusal = 'the device is on fire';
    await offers('example.com/broken', 1, 1);
    await kubelet.create('burnt', { containers: [wants('burnt-main', 'example.com/broken', 1)] });
    const { status } = await failed('burnt');
    expect(status).toMatchObject({
      reason: 'UnexpectedAdmissionError',
      message:
        'Pod was rejected: Allocate failed due to rpc error: the device is on fire, which is unexpected',
    });
    await eventually(async () => {
      const { items } = await kubelet.client.for(Events).list({ namespace: 'default' });
      expect(items.map(({ reason }) => reason)).toContain('UnexpectedAdmissionError');
    });
  });

  it('give no device twice after the kubelet was restarted, and take plugins that come back', async () => {
    const plugin = await startPlugin('example.com/kept', ['k-0', 'k-1']);
    await offers('example.com/kept', 2, 2);
    await kubelet.create('first', { containers: [wants('first-main', 'example.com/kept', 1)] });
    const first = await envOf('first-main', 'VISIBLE_DEVICES');
    await kubelet.stop();
    await kubelet.start();
    await offers('example.com/kept', 0, 0);
    await plugin.start();
    await offers('example.com/kept', 2, 2);
    await kubelet.create('second', { containers: [wants('second-main', 'example.com/kept', 1)] });
    const second = await envOf('second-main', 'VISIBLE_DEVICES');
    expect([first, second].sort()).toEqual(['k-0', 'k-1']);
    expect(kubelet.runtime.container('first-main')?.state).toBe('CONTAINER_RUNNING');
  });

  it.each([
    [{ version: 'v1alpha' }, 'requested API version "v1alpha" is not supported'],
    [{ resourceName: 'cpu' }, 'the ResourceName "cpu" is invalid'],
    [{ resourceName: 'kubernetes.io/gpu' }, 'the ResourceName "kubernetes.io/gpu" is invalid'],
    [{ endpoint: '../other.sock' }, 'the endpoint "../other.sock" is no name of a socket'],
  ])('are refused when they register as %j', async (more, message) => {
    const request = { version: 'v1beta1', endpoint: 'a.sock', resourceName: 'example.com/a', ...more };
    await expect(register(directory, request)).rejects.toThrow(message);
  });
});
