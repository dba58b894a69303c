import { CSIDrivers, CSINodes, Leases, Nodes, Pods } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { serveHostPathNode } from '@tinkernetes/csi';
import { get as httpsGet } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { staggered } from './light-nodes';
import { askPodResources } from './testing/ask-pod-resources';
import { FakeDevicePlugin } from './testing/fake-device-plugin';
import { KubeletFixture } from './testing/kubelet-fixture';

describe('light nodes', () => {
  const names = ['node-1-0', 'node-1-1', 'node-1-2'];
  let kubelet: KubeletFixture;

  beforeAll(async () => {
    // One identity for several nodes needs more rights than those of a node.
    kubelet = await KubeletFixture.create(['system:masters']);
    await kubelet.start(['--nodes=3']);
  });
  afterAll(() => kubelet.close());

  const ports = async () =>
    Promise.all(
      names.map(async (name) => {
        const { status } = await kubelet.client.for(Nodes).get(name);
        return status?.daemonEndpoints?.kubeletEndpoint?.Port;
      }),
    );

  it('are Nodes with ports and Leases of their own, and hand all their ranges to the one runtime', async () => {
    await eventually(() => ports());
    expect(new Set(await ports()).size).toBe(3);
    for (const [i, name] of names.entries()) {
      const podCIDR = `10.244.${i}.0/24`;
      await kubelet.client
        .for(Nodes)
        .patch(name, { spec: { podCIDR, podCIDRs: [podCIDR] } }, { type: 'merge' });
      await eventually(() => kubelet.client.for(Leases).get(name, { namespace: 'kube-node-lease' }));
    }
    await eventually(() => {
      expect(kubelet.runtime.podCIDR).toBe('10.244.0.0/23,10.244.2.0/24');
    });
    for (const name of names) {
      await eventually(async () => {
        const { status } = await kubelet.client.for(Nodes).get(name);
        expect(status?.conditions?.find((c) => c.type === 'Ready')?.status).toBe('True');
      });
    }
  });

  it('run the Pods that are bound to each of them', async () => {
    for (const [i, nodeName] of names.entries()) await kubelet.create(`light-${i}`, { nodeName });
    for (const i of names.keys()) await kubelet.phase(`light-${i}`, 'Running');
    const owners = [...kubelet.runtime.sandboxes.values()].map(
      (s) => s.config.labels['tinkernetes.dev/node'],
    );
    expect(owners.sort()).toEqual(names);
  });

  it('tell of their Pods together at the one pod-resources socket', async () => {
    const socket = join(kubelet.directory, 'root/pod-resources/kubelet.sock');
    await eventually(async () => {
      const { podResources } = (await askPodResources(socket, 'list')) as {
        podResources: { name: string }[];
      };
      expect(podResources.map(({ name }) => name).sort()).toEqual(['light-0', 'light-1', 'light-2']);
    });
  });

  it('each offer what the machine’s device plugins list', async () => {
    const plugin = new FakeDevicePlugin(join(kubelet.directory, 'root/device-plugins'), 'example.com/gpu', [
      'gpu-0',
      'gpu-1',
    ]);
    try {
      await plugin.start();
      for (const name of names)
        await eventually(async () => {
          const { status } = await kubelet.client.for(Nodes).get(name);
          expect(status?.allocatable?.['example.com/gpu']).toBe('2');
        });
      const resources = { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '2' } };
      for (const [i, nodeName] of names.entries())
        await kubelet.create(`gpu-${i}`, {
          nodeName,
          containers: [{ name: `gpu-${i}-main`, image: 'busybox', resources }],
        });
      for (const i of names.keys()) await kubelet.phase(`gpu-${i}`, 'Running');
      expect(plugin.allocated).toEqual(names.map(() => ['gpu-0', 'gpu-1']));
      for (const i of names.keys())
        await kubelet.client.for(Pods).delete(`gpu-${i}`, { namespace: 'default', gracePeriodSeconds: 0 });
    } finally {
      plugin.stop();
    }
  });

  it('are each served on a port of their own, with their own Pods', async () => {
    const identity = await kubelet.apiServer.configFor('kube-apiserver-kubelet-client', 'system:masters');
    const { certData: cert, keyData: key } = identity;
    for (const [i, port] of (await ports()).entries()) {
      const body = await new Promise<string>((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/pods', cert, key, rejectUnauthorized: false };
        httpsGet({ ...options, agent: false }, (response) => void text(response).then(resolve, reject)).on(
          'error',
          reject,
        );
      });
      const { items } = JSON.parse(body) as { items: { metadata: { name: string } }[] };
      expect(items.map((pod) => pod.metadata.name)).toEqual([`light-${i}`]);
    }
  });

  it('share the CSI drivers of their machine: each tells of them, and mounts volumes in its own directory', async () => {
    const driver = 'hostpath.csi.tinkernetes.dev';
    await kubelet.client.for(CSIDrivers).create({
      metadata: { name: driver },
      spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] },
    });
    const root = join(kubelet.directory, 'root');
    const server = await serveHostPathNode({
      endpoint: `unix://${join(kubelet.directory, 'node.sock')}`,
      stateDir: join(kubelet.directory, 'volumes'),
      perNode: false,
      nodeId: 'machine-1',
      registrationDir: join(root, 'plugins_registry'),
    });
    try {
      for (const [i, light] of names.entries()) {
        const { spec } = await eventually(() => kubelet.client.for(CSINodes).get(light));
        expect(spec.drivers).toEqual([expect.objectContaining({ name: driver, nodeID: 'machine-1' })]);
        const { metadata } = await kubelet.create(`stored-${i}`, {
          nodeName: light,
          volumes: [{ name: 'scratch', csi: { driver } }],
          containers: [
            {
              name: `stored-${i}-main`,
              image: 'busybox',
              volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
            },
          ],
        });
        await kubelet.phase(`stored-${i}`, 'Running');
        const { mounts = [] } = kubelet.runtime.container(`stored-${i}-main`)?.config ?? {};
        expect(mounts.find((m) => m.containerPath === '/scratch')?.hostPath).toBe(
          join(root, 'nodes', light, 'pods', metadata.uid ?? '', 'volumes/kubernetes.io~csi/scratch/mount'),
        );
      }
      for (const i of names.keys())
        await kubelet.client.for(Pods).delete(`stored-${i}`, { namespace: 'default', gracePeriodSeconds: 0 });
    } finally {
      server.close();
    }
  });

  it('end after a restart what was deleted meanwhile on their own node, and touch nothing of the others', async () => {
    const survivor = kubelet.runtime.container('light-0-main')?.id;
    await kubelet.stop();
    await kubelet.client.for(Pods).delete('light-1', { namespace: 'default', gracePeriodSeconds: 0 });
    kubelet.runtime.calls.length = 0;
    await kubelet.start(['--nodes=3']);
    await eventually(() => kubelet.runtime.calls.some((c) => c.startsWith('StopContainer light-1-main')));
    await eventually(async () => {
      expect(isNotFound(await kubelet.get('light-1').catch((error: unknown) => error))).toBe(true);
    });
    expect(kubelet.runtime.calls.filter((c) => /light-[02]/.test(c))).toEqual([]);
    expect(kubelet.runtime.container('light-0-main')).toMatchObject({
      id: survivor,
      state: 'CONTAINER_RUNNING',
    });
  });
});

describe('staggered', () => {
  it('lets the next begin when one has started, although none has ended', async () => {
    const order: string[] = [];
    const start: Array<() => void> = [];
    const end: Array<() => void> = [];
    const all = staggered([0, 1, 2], 2, (i, started) => {
      order.push(`begin ${i}`);
      start[i] = started;
      return new Promise((resolve) => (end[i] = resolve));
    });
    expect(order).toEqual(['begin 0', 'begin 1']);
    start[0]?.();
    await eventually(() => order.length === 3);
    for (const i of [1, 2]) start[i]?.();
    for (const finish of end) finish();
    await all;
  });

  it('fails with the first that fails', async () => {
    await expect(staggered([0, 1], 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
