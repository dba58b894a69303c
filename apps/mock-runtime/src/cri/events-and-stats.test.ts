import type { ContainerEventResponse } from '@tinkernetes/cri';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestRuntime, type TestRuntime } from '../testing/start-runtime';

describe('events and statistics', () => {
  let node: TestRuntime;

  beforeAll(async () => {
    node = await startTestRuntime();
  });
  afterAll(() => node.stop());

  it('tells each step of a Pod, with what is then true of it', async () => {
    const stop = new AbortController();
    const events: ContainerEventResponse[] = [];
    const listening = (async () => {
      for await (const event of node.runtime.getContainerEvents({}, { signal: stop.signal }))
        events.push(event);
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    // The stream is open when the first event of a later Pod arrives.
    await eventually(async () => {
      await node.runtime.runPodSandbox({
        config: { metadata: { name: `probe-${events.length}`, namespace: 'x', uid: String(Math.random()) } },
      });
      expect(events.length).toBeGreaterThan(0);
    });
    events.length = 0;
    const pod = await node.startPod({ name: 'told', image: 'busybox', command: ['sleep', '3600'] });
    await node.runtime.stopContainer({ containerId: pod.containerId, timeout: 0 });
    await node.runtime.removePodSandbox({ podSandboxId: pod.sandboxId });
    const own = () =>
      events.filter((e) => e.containerId === pod.containerId || e.containerId === pod.sandboxId);
    await eventually(() => expect(own().length).toBe(8));
    expect(
      own().map((e) => [e.containerId === pod.sandboxId ? 'sandbox' : 'container', e.containerEventType]),
    ).toEqual([
      ['sandbox', 'CONTAINER_CREATED_EVENT'],
      ['sandbox', 'CONTAINER_STARTED_EVENT'],
      ['container', 'CONTAINER_CREATED_EVENT'],
      ['container', 'CONTAINER_STARTED_EVENT'],
      ['container', 'CONTAINER_STOPPED_EVENT'],
      ['sandbox', 'CONTAINER_STOPPED_EVENT'],
      ['container', 'CONTAINER_DELETED_EVENT'],
      ['sandbox', 'CONTAINER_DELETED_EVENT'],
    ]);
    const started = own()[3];
    expect(started?.podSandboxStatus).toMatchObject({ id: pod.sandboxId, state: 'SANDBOX_READY' });
    expect(started?.containersStatuses).toEqual([
      expect.objectContaining({ id: pod.containerId, state: 'CONTAINER_RUNNING' }),
    ]);
    const ended = own()[4]?.containersStatuses[0];
    expect(ended).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 137, reason: 'Error' });
    stop.abort();
    await listening;
  });

  it('accounts for what a program computes and holds', async () => {
    const pod = await node.startPod({
      name: 'worker',
      image: 'polinux/stress',
      command: ['stress', '--cpu', '1', '--vm', '1', '--vm-bytes', '64M'],
    });
    const idle = await node.startPod({ name: 'idle', image: 'registry.k8s.io/pause:3.10' });
    await eventually(async () => {
      const { stats } = await node.runtime.containerStats({ containerId: pod.containerId });
      expect(stats?.memory?.workingSetBytes?.value).toBeGreaterThanOrEqual(64 * 1024 * 1024);
      expect(stats?.cpu?.usageCoreNanoSeconds?.value).toBeGreaterThan(100_000_000);
    });
    const { stats } = await node.runtime.containerStats({ containerId: idle.containerId });
    expect(stats?.memory?.workingSetBytes?.value).toBeLessThan(10 * 1024 * 1024);
    const { stats: all } = await node.runtime.listContainerStats({ filter: { podSandboxId: pod.sandboxId } });
    expect(all.map((s) => s.attributes?.id)).toEqual([pod.containerId]);
    const { stats: ofPod } = await node.runtime.podSandboxStats({ podSandboxId: pod.sandboxId });
    expect(ofPod?.linux?.memory?.workingSetBytes?.value).toBeGreaterThanOrEqual(64 * 1024 * 1024);
    expect(ofPod?.linux?.process?.processCount?.value).toBeGreaterThan(1);
  });

  it('kills a container that holds more than its limit, whichever of its processes it was', async () => {
    const limited = (name: string, command: string[]) =>
      node.startPod({
        name,
        image: 'busybox',
        command,
        container: { linux: { resources: { memoryLimitInBytes: 16 * 1024 * 1024 } } },
      });
    const pods = await Promise.all([
      limited('dd', ['sh', '-c', 'dd if=/dev/zero of=/dev/null bs=32M; echo survived']),
      limited('variable', ['sh', '-c', 'x=0123456789; while :; do x=$x$x; done']),
    ]);
    for (const { containerId } of pods)
      await eventually(async () => {
        const { status } = await node.runtime.containerStatus({ containerId });
        expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 137, reason: 'OOMKilled' });
      });
  });

  it("gives cAdvisor's metrics of each Pod, with the labels that their descriptors promise", async () => {
    const pod = await node.startPod({ name: 'measured', image: 'busybox', command: ['sleep', '3600'] });
    const { descriptors } = await node.runtime.listMetricDescriptors({});
    const { podMetrics } = await node.runtime.listPodSandboxMetrics({});
    const own = podMetrics.find(({ podSandboxId }) => podSandboxId === pod.sandboxId);
    const metrics = [...(own?.metrics ?? []), ...(own?.containerMetrics[0]?.metrics ?? [])];
    expect(new Set(metrics.map(({ name }) => name))).toEqual(new Set(descriptors.map(({ name }) => name)));
    for (const { name, labelValues } of metrics)
      expect([name, labelValues.length]).toEqual([
        name,
        descriptors.find((descriptor) => descriptor.name === name)?.labelKeys.length,
      ]);
  });
});
