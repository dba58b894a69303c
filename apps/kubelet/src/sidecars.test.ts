import { Events, Pods, type Lifecycle, type Pod } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { conditionOf, KubeletFixture } from './testing/kubelet-fixture';

describe('C29: a Job pod with a sidecar between init containers', () => {
  let kubelet: KubeletFixture;
  /** What the sidecars' startup probes find. */
  let isStarted = true;

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    kubelet.runtime.exec = () => ({ exitCode: isStarted ? 0 : 1 });
    await kubelet.start();
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());
  beforeEach(() => {
    isStarted = true;
    kubelet.runtime.onStop = () => 143;
  });

  const state = (name: string) => kubelet.runtime.container(name)?.state;
  const runs = (name: string) => eventually(() => state(name) === 'CONTAINER_RUNNING');
  const sidecarOf = async (name: string) => (await kubelet.get(name)).status?.initContainerStatuses?.[1];

  /** prep, then proxy with its probe, then warm, then main; names are unique by the Pod's. */
  async function createJobPod(
    name: string,
    probe: { failureThreshold?: number } = {},
    lifecycle?: Lifecycle,
  ): Promise<void> {
    await kubelet.create(name, {
      restartPolicy: 'Never',
      initContainers: [
        { name: `${name}-prep`, image: 'busybox' },
        {
          name: `${name}-proxy`,
          image: 'busybox',
          restartPolicy: 'Always',
          startupProbe: { exec: { command: ['check'] }, periodSeconds: 1, ...probe },
          // Never passes: it must not hold up anything.
          readinessProbe: { exec: { command: ['ready'] }, initialDelaySeconds: 300 },
          lifecycle,
        },
        { name: `${name}-warm`, image: 'busybox' },
      ],
      containers: [{ name: `${name}-main`, image: 'busybox' }],
    });
  }

  async function untilMain(name: string): Promise<Pod> {
    await runs(`${name}-prep`);
    kubelet.runtime.exit(`${name}-prep`, 0);
    await runs(`${name}-warm`);
    kubelet.runtime.exit(`${name}-warm`, 0);
    return kubelet.phase(name, 'Running');
  }

  it('C29: starts main only after prep, the sidecar’s startup probe and warm', async () => {
    isStarted = false;
    await createJobPod('order');
    await runs('order-prep');
    expect(state('order-proxy')).toBeUndefined();
    expect(conditionOf(await kubelet.get('order'), 'Initialized')?.status).toBe('False');
    kubelet.runtime.exit('order-prep', 0);
    await runs('order-proxy');
    await eventually(async () => expect(await sidecarOf('order')).toMatchObject({ started: false }));
    expect(state('order-warm')).toBeUndefined();
    isStarted = true;
    await runs('order-warm');
    expect(await sidecarOf('order')).toMatchObject({ started: true, ready: false });
    expect(state('order-main')).toBeUndefined();
    kubelet.runtime.exit('order-warm', 0);
    const pod = await kubelet.phase('order', 'Running');
    expect(conditionOf(pod, 'Initialized')?.status).toBe('True');
  });

  it('C29: restarts a sidecar that crashes although the pod never restarts, and nothing else', async () => {
    await createJobPod('crash');
    await untilMain('crash');
    const main = kubelet.runtime.container('crash-main')?.id;
    kubelet.runtime.exit('crash-proxy', 1);
    await eventually(async () =>
      expect(await sidecarOf('crash')).toMatchObject({ restartCount: 1, started: true }),
    );
    expect(kubelet.runtime.container('crash-main')).toMatchObject({ id: main, state: 'CONTAINER_RUNNING' });
    const creations = (name: string) =>
      kubelet.runtime.calls.filter((c) => c === `CreateContainer crash-${name}`);
    expect(creations('prep')).toHaveLength(1);
    expect(creations('warm')).toHaveLength(1);
    expect(creations('proxy')).toHaveLength(2);
  });

  it('C29: restarts a sidecar that fails its startup probe; the pod does not fail', async () => {
    isStarted = false;
    await createJobPod('slow', { failureThreshold: 1 });
    await runs('slow-prep');
    kubelet.runtime.exit('slow-prep', 0);
    await eventually(async () => expect((await sidecarOf('slow'))?.restartCount).toBeGreaterThan(0));
    expect((await kubelet.get('slow')).status?.phase).toBe('Pending');
    const { items } = await kubelet.client
      .for(Events)
      .list({ namespace: 'default', fieldSelector: 'involvedObject.name=slow' });
    expect(items.map((e) => e.message)).toContainEqual(
      expect.stringContaining('Init container slow-proxy failed startup probe'),
    );
  });

  it('C29: stops the sidecar when main has ended; the pod succeeds whatever the sidecar exits with', async () => {
    kubelet.runtime.onStop = () => 1;
    await createJobPod('done');
    await untilMain('done');
    kubelet.runtime.exit('done-main', 0);
    const pod = await kubelet.phase('done', 'Succeeded');
    expect(kubelet.runtime.calls.some((c) => c.startsWith('StopContainer done-proxy'))).toBe(true);
    await eventually(async () => expect((await sidecarOf('done'))?.state?.terminated?.exitCode).toBe(1));
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
  });

  it('C29: ends main first, then the sidecar, when the pod is deleted; its hook runs at once', async () => {
    const { exec } = kubelet.runtime;
    const said = new Promise<void>((resolve) => {
      kubelet.runtime.exec = (container, command) => {
        if (command[0] === 'bye') resolve();
        return exec(container, command);
      };
    });
    kubelet.runtime.onStop = ({ config }) =>
      config.metadata?.name === 'gone-main' ? said.then(() => 143) : 143;
    await createJobPod('gone', {}, { preStop: { exec: { command: ['bye'] } } });
    await untilMain('gone');
    await kubelet.client.for(Pods).delete('gone', { namespace: 'default' });
    await eventually(async () => {
      expect(isNotFound(await kubelet.get('gone').catch((error: unknown) => error))).toBe(true);
    });
    const stops = kubelet.runtime.calls.filter((c) => /^StopContainer gone-/.test(c));
    expect(stops.map((c) => c.split(' ')[1])).toEqual(['gone-main', 'gone-proxy']);
    for (const stop of stops) expect(Number(stop.split(' ')[2])).toBeLessThanOrEqual(5);
  });
});
