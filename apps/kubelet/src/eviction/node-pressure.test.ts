import { Events, Nodes } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conditionOf, KubeletFixture, nodeName } from '../testing/kubelet-fixture';

describe('a node that runs out of something', () => {
  let kubelet: KubeletFixture;
  const heartbeats = '--node-status-update-frequency=100ms';

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start([heartbeats]);
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());

  it('evicts a pod whose emptyDir outgrows its sizeLimit', async () => {
    await kubelet.create('greedy', {
      volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1Mi' } }],
      containers: [
        { name: 'greedy-main', image: 'busybox', volumeMounts: [{ name: 'scratch', mountPath: '/data' }] },
      ],
    });
    await kubelet.phase('greedy', 'Running');
    const mounts = kubelet.runtime.container('greedy-main')?.config.mounts ?? [];
    const directory = mounts.find((m) => m.containerPath === '/data')?.hostPath ?? '';
    await writeFile(join(directory, 'big'), Buffer.alloc(2 * 1024 * 1024, 1));
    const pod = await kubelet.phase('greedy', 'Failed');
    expect(pod.status).toMatchObject({
      reason: 'Evicted',
      message: 'Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". ',
    });
    await eventually(() => kubelet.runtime.container('greedy-main')?.state === 'CONTAINER_EXITED');
  });

  it('has the condition, evicts what runs and takes no more BestEffort pods', async () => {
    await kubelet.create('victim');
    await kubelet.phase('victim', 'Running');
    await kubelet.stop();
    await kubelet.start([heartbeats, '--eviction-hard=memory.available<100%']);
    await eventually(async () => {
      const { status } = await kubelet.client.for(Nodes).get(nodeName);
      expect(status?.conditions?.find((c) => c.type === 'MemoryPressure')).toMatchObject({
        status: 'True',
        reason: 'KubeletHasInsufficientMemory',
      });
    });
    const victim = await kubelet.phase('victim', 'Failed');
    expect(victim.status?.reason).toBe('Evicted');
    expect(victim.status?.message).toMatch(
      /^The node was low on resource: memory\. Threshold quantity: \S+, available: \S+\. Container victim-main was using \S+, request is 0, has larger consumption of memory\. $/,
    );
    expect(conditionOf(victim, 'DisruptionTarget')?.reason).toBe('TerminationByKubelet');
    await kubelet.create('late');
    const late = await kubelet.phase('late', 'Failed');
    expect(late.status).toMatchObject({
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [MemoryPressure]. ',
    });
    const { items } = await kubelet.client
      .for(Events)
      .list({ namespace: 'default', fieldSelector: `involvedObject.name=${nodeName}` });
    expect(items.map((e) => e.message)).toContain('Attempting to reclaim memory');
  });
});
