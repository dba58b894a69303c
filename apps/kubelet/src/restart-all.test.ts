import type { Container } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { conditionOf, KubeletFixture } from './testing/kubelet-fixture';

describe('KEP-5532: the action RestartAllContainers', () => {
  let kubelet: KubeletFixture;

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start();
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());

  /** The ID of the container that runs now, not `before`. */
  const runs = (name: string, before?: string) =>
    eventually(() => {
      const container = kubelet.runtime.container(name);
      expect(container?.state).toBe('CONTAINER_RUNNING');
      expect(container?.id).not.toBe(before);
      return container?.id;
    });
  const trigger = (name: string, more: Partial<Container> = {}): Container => ({
    name,
    image: 'busybox',
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
    ...more,
  });
  const restarting = async (pod: string) =>
    conditionOf(await kubelet.get(pod), 'AllContainersRestarting')?.status;

  it('runs init containers and containers again in the same sandbox, also those that had ended', async () => {
    const stops: number[] = [];
    kubelet.runtime.onStop = (_, grace) => {
      stops.push(grace);
      return 137;
    };
    await kubelet.create('all', {
      restartPolicy: 'Never',
      initContainers: [{ name: 'all-init', image: 'busybox' }],
      containers: [
        {
          name: 'all-main',
          image: 'busybox',
          lifecycle: { preStop: { exec: { command: ['never', 'run'] } } },
        },
        { name: 'all-once', image: 'busybox' },
        trigger('all-trigger'),
      ],
    });
    const execs: string[] = [];
    kubelet.runtime.exec = (_, command) => {
      execs.push(command.join(' '));
      return { exitCode: 0 };
    };
    const init = await runs('all-init');
    kubelet.runtime.exit('all-init', 0);
    const main = await runs('all-main');
    await runs('all-once');
    await runs('all-trigger');
    expect(conditionOf(await kubelet.phase('all', 'Running'), 'AllContainersRestarting')?.status).toBe(
      'False',
    );
    const sandboxes = kubelet.runtime.sandboxes.size;
    kubelet.runtime.exit('all-once', 0);
    kubelet.runtime.exit('all-trigger', 42);
    await runs('all-init', init);
    expect((await kubelet.get('all')).status?.phase).toBe('Running');
    kubelet.runtime.exit('all-init', 0);
    await runs('all-main', main);
    await runs('all-once');
    await runs('all-trigger');
    await eventually(async () => {
      const { status } = await kubelet.get('all');
      const seen = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
      expect(seen.map(({ restartCount }) => restartCount)).toEqual([1, 1, 1, 1]);
      expect(seen[1]?.lastState?.terminated).toMatchObject({
        exitCode: 137,
        reason: 'RestartingAllContainers',
      });
      expect(await restarting('all')).toBe('False');
    });
    expect(kubelet.runtime.sandboxes.size).toBe(sandboxes);
    expect({ stops, execs }).toEqual({ stops: [0], execs: [] });
  });

  it('lets the container that caused it back off when it does so again at once', async () => {
    await kubelet.create('again', { restartPolicy: 'Never', containers: [trigger('again-trigger')] });
    const first = await runs('again-trigger');
    kubelet.runtime.exit('again-trigger', 42);
    await runs('again-trigger', first);
    kubelet.runtime.exit('again-trigger', 42);
    await eventually(async () => {
      const { status } = await kubelet.get('again');
      expect(status?.phase).toBe('Running');
      expect(status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe('CrashLoopBackOff');
    });
  });

  it('fails as the policy says when no rule fits', async () => {
    await kubelet.create('other', { restartPolicy: 'Never', containers: [trigger('other-trigger')] });
    await runs('other-trigger');
    kubelet.runtime.exit('other-trigger', 1);
    expect(conditionOf(await kubelet.phase('other', 'Failed'), 'AllContainersRestarting')).toMatchObject({
      status: 'False',
      reason: 'PodFailed',
    });
  });
});
