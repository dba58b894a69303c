import { Events, Leases, Nodes, Pods, type Node } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { conditionOf, KubeletFixture, nodeName } from './testing/kubelet-fixture';

describe('kubelet', () => {
  let kubelet: KubeletFixture;

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start();
  });
  afterAll(() => kubelet.close());

  it('registers its node, hands the pod CIDR to the runtime and is ready then', async () => {
    await eventually(async () => {
      const node = await kubelet.client.for(Nodes).get(nodeName);
      expect(node.status?.conditions?.find((c) => c.type === 'Ready')?.status).toBe('False');
    });
    await kubelet.client
      .for(Nodes)
      .patch(
        nodeName,
        { spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] } },
        { type: 'merge' },
      );
    await eventually(async () => {
      const ready = (await kubelet.client.for(Nodes).get(nodeName)).status?.conditions?.find(
        (c) => c.type === 'Ready',
      );
      expect(ready).toMatchObject({ status: 'True', reason: 'KubeletReady' });
    });
    expect(kubelet.runtime.podCIDR).toBe('10.244.0.0/24');
    const lease = await eventually(() =>
      kubelet.client.for(Leases).get(nodeName, { namespace: 'kube-node-lease' }),
    );
    expect(lease.spec?.leaseDurationSeconds).toBe(40);
  });

  it('runs a pod, tells its status, and ends it with its grace period', async () => {
    await kubelet.create('web');
    const pod = await kubelet.phase('web', 'Running');
    expect(conditionOf(pod, 'Ready')?.status).toBe('True');
    expect(pod.status).toMatchObject({ hostIP: '172.30.0.11', qosClass: 'BestEffort' });
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      ready: true,
      started: true,
      restartCount: 0,
      image: 'busybox:latest',
    });
    await kubelet.client.for(Pods).delete('web', { namespace: 'default' });
    await eventually(async () => {
      const gone = await kubelet.get('web').catch((error: unknown) => error);
      expect(isNotFound(gone)).toBe(true);
    });
    expect(kubelet.runtime.calls).toContain('StopContainer web-main 5');
    await eventually(() =>
      [...kubelet.runtime.sandboxes.values()].every((s) => s.config.metadata?.name !== 'web'),
    );
    const { items } = await kubelet.client
      .for(Events)
      .list({ namespace: 'default', fieldSelector: 'involvedObject.name=web' });
    expect(items.map((e) => e.reason)).toEqual(
      expect.arrayContaining(['Pulling', 'Pulled', 'Created', 'Started', 'Killing']),
    );
  });

  it('C27 says that a pod is ready again after somebody took its node for lost', async () => {
    await kubelet.create('lost');
    const pod = await kubelet.phase('lost', 'Running');
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    const patched = await kubelet.client.for(Pods).patch(
      'lost',
      { status },
      {
        type: 'strategic',
        subresource: 'status',
        namespace: 'default',
      },
    );
    expect(conditionOf(patched, 'Ready')?.status).toBe('False');
    await eventually(async () =>
      expect(conditionOf(await kubelet.get('lost'), 'Ready')?.status).toBe('True'),
    );
    expect(pod.metadata.uid).toBe(patched.metadata.uid);
    await kubelet.client.for(Pods).delete('lost', { namespace: 'default', gracePeriodSeconds: 0 });
  });

  it('C27 says that its node is ready again after somebody took it for lost', async () => {
    const nodes = kubelet.client.for(Nodes);
    const readyOf = (node: Node) => node.status?.conditions?.find((c) => c.type === 'Ready');
    const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };
    const patched = await nodes.patch(
      nodeName,
      { status: { conditions: [unknown] } },
      { type: 'strategic', subresource: 'status' },
    );
    expect(readyOf(patched)?.status).toBe('Unknown');
    await eventually(async () =>
      expect(readyOf(await nodes.get(nodeName))).toMatchObject({ status: 'True', reason: 'KubeletReady' }),
    );
    await eventually(async () => {
      const { items } = await kubelet.client
        .for(Events)
        .list({ fieldSelector: `involvedObject.name=${nodeName},reason=NodeReady` });
      expect(items.map(({ count }) => count)).toEqual([2]);
    });
  });

  it('completes a pod whose containers end and never restart', async () => {
    await kubelet.create('job', { restartPolicy: 'Never' });
    await kubelet.phase('job', 'Running');
    kubelet.runtime.exit('job-main', 0);
    const pod = await kubelet.phase('job', 'Succeeded');
    expect(conditionOf(pod, 'Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' });
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 0,
      reason: 'Completed',
    });
  });

  it('restarts a crashed container at once, then with back-off', async () => {
    await kubelet.create('crash');
    await kubelet.phase('crash', 'Running');
    kubelet.runtime.exit('crash-main', 1);
    await eventually(async () => {
      const pod = await kubelet.get('crash');
      expect(pod.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: true });
    });
    kubelet.runtime.exit('crash-main', 1);
    await eventually(async () => {
      const state = (await kubelet.get('crash')).status?.containerStatuses?.[0]?.state;
      expect(state?.waiting?.reason).toBe('CrashLoopBackOff');
      expect(state?.waiting?.message).toMatch(
        /^back-off 10s restarting failed container=crash-main pod=crash_default\(/,
      );
    });
  });

  it('backs off a container that its liveness probe kills again and again', async () => {
    kubelet.runtime.exec = () => ({ exitCode: 1 });
    await kubelet.create('unwell', {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'unwell-main',
          image: 'busybox',
          livenessProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 },
        },
      ],
    });
    await eventually(async () => {
      const [status] = (await kubelet.get('unwell')).status?.containerStatuses ?? [];
      expect(status?.state?.waiting?.reason).toBe('CrashLoopBackOff');
      expect(status?.restartCount).toBe(2);
    });
  });

  it('runs init containers in order and sidecars beside the main container', async () => {
    await kubelet.create('staged', {
      restartPolicy: 'Never',
      initContainers: [
        { name: 'prep', image: 'busybox' },
        { name: 'proxy', image: 'busybox', restartPolicy: 'Always' },
        { name: 'warm', image: 'busybox' },
      ],
      containers: [{ name: 'main', image: 'busybox' }],
    });
    await eventually(() => kubelet.runtime.container('prep')?.state === 'CONTAINER_RUNNING');
    expect(kubelet.runtime.container('proxy')).toBeUndefined();
    expect((await kubelet.get('staged')).status?.phase).toBe('Pending');
    kubelet.runtime.exit('prep', 0);
    await eventually(() => kubelet.runtime.container('warm')?.state === 'CONTAINER_RUNNING');
    expect(kubelet.runtime.container('proxy')?.state).toBe('CONTAINER_RUNNING');
    expect(kubelet.runtime.container('main')).toBeUndefined();
    kubelet.runtime.exit('warm', 0);
    await kubelet.phase('staged', 'Running');
    const proxy = kubelet.runtime.container('proxy')?.id;
    kubelet.runtime.exit('proxy', 1);
    await eventually(async () => {
      const pod = await kubelet.get('staged');
      expect(pod.status?.initContainerStatuses?.[1]).toMatchObject({ restartCount: 1, started: true });
    });
    expect(kubelet.runtime.container('proxy')?.id).not.toBe(proxy);
    kubelet.runtime.exit('main', 0);
    const done = await kubelet.phase('staged', 'Succeeded');
    expect(done.status?.containerStatuses).toHaveLength(1);
    await eventually(() => kubelet.runtime.container('proxy')?.state === 'CONTAINER_EXITED');
  });

  it('says why an image cannot be pulled, and backs off', async () => {
    kubelet.runtime.broken.set('nowhere/none:1', 'failed to resolve reference "nowhere/none:1": not found');
    await kubelet.create('unpullable', { containers: [{ name: 'c', image: 'nowhere/none:1' }] });
    await eventually(async () => {
      const state = (await kubelet.get('unpullable')).status?.containerStatuses?.[0]?.state;
      expect(state?.waiting?.reason).toBe('ImagePullBackOff');
      expect(state?.waiting?.message).toMatch(
        /^Back-off pulling image "nowhere\/none:1": ErrImagePull: .*failed to resolve reference/,
      );
    });
  });

  it('reports RunContainerError for a command that does not exist', async () => {
    await kubelet.create('nocmd', {
      containers: [{ name: 'nocmd-main', image: 'busybox', command: ['/no/such'] }],
    });
    await eventually(async () => {
      const status = (await kubelet.get('nocmd')).status?.containerStatuses?.[0];
      expect(status?.state?.waiting?.reason ?? status?.lastState?.terminated?.exitCode).toBeDefined();
      expect(status?.lastState?.terminated?.exitCode).toBe(127);
    });
  });

  it('goes on with running containers after its own restart', async () => {
    await kubelet.create('steady');
    await kubelet.phase('steady', 'Running');
    const id = kubelet.runtime.container('steady-main')?.id;
    await kubelet.stop();
    kubelet.runtime.calls.length = 0;
    await kubelet.start();
    await kubelet.create('after-restart');
    await kubelet.phase('after-restart', 'Running');
    expect(kubelet.runtime.container('steady-main')?.id).toBe(id);
    expect(kubelet.runtime.calls.filter((c) => c.includes('steady'))).toEqual([]);
  });

  it('goes on when its runtime is slow at the start, and then ends what nobody wants any more', async () => {
    await kubelet.create('unwanted');
    await kubelet.phase('unwanted', 'Running');
    await kubelet.stop();
    const { runtime, client } = kubelet;
    await client.for(Pods).delete('unwanted', { namespace: 'default', gracePeriodSeconds: 0 });
    runtime.calls.length = 0;
    runtime.hanging.add('ListPodSandbox');
    try {
      await kubelet.start(['--runtime-request-timeout=500ms']);
      // The event generator's listing, and that of what is unwanted.
      await eventually(() =>
        expect(runtime.calls.filter((c) => c === 'ListPodSandbox gave up').length).toBeGreaterThan(1),
      );
    } finally {
      runtime.hanging.clear();
    }
    await eventually(() => expect(runtime.calls).toContain('StopPodSandbox unwanted'));
    await kubelet.stop();
    await kubelet.start();
  });

  it('is not ready while its runtime is gone, and goes on with the same containers afterwards', async () => {
    await kubelet.create('survivor');
    await kubelet.phase('survivor', 'Running');
    const id = kubelet.runtime.container('survivor-main')?.id;
    const ready = async () =>
      (await kubelet.client.for(Nodes).get(nodeName)).status?.conditions?.find((c) => c.type === 'Ready');
    kubelet.runtime.stop();
    await eventually(async () => {
      const condition = await ready();
      expect(condition?.status).toBe('False');
      expect(condition?.message).toMatch(/^container runtime is down: /);
    });
    await kubelet.runtime.start();
    await eventually(async () => expect((await ready())?.status).toBe('True'));
    kubelet.runtime.exit('survivor-main', 1);
    await eventually(async () => {
      expect((await kubelet.get('survivor')).status?.containerStatuses?.[0]).toMatchObject({
        restartCount: 1,
        ready: true,
      });
    });
    expect(kubelet.runtime.container('survivor-main')?.id).not.toBe(id);
  });

  it('ends a pod that was active longer than its deadline, and says so once its containers have ended', async () => {
    const { onStop } = kubelet.runtime;
    let end: () => void = () => undefined;
    const ended = new Promise<number>((resolve) => (end = () => resolve(143)));
    const stopping = new Promise<void>((resolve) => {
      kubelet.runtime.onStop = () => {
        resolve();
        return ended;
      };
    });
    try {
      await kubelet.create('late', { activeDeadlineSeconds: 3 });
      await stopping;
      const running = await eventually(async () => {
        const late = await kubelet.get('late');
        expect(conditionOf(late, 'Ready')?.reason).toBe('PodFailed');
        return late;
      });
      expect(running.status?.phase).toBe('Running');
      expect(running.status?.reason).toBeUndefined();
    } finally {
      end();
      kubelet.runtime.onStop = onStop;
    }
    const pod = await kubelet.phase('late', 'Failed');
    expect(pod.status).toMatchObject({
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    });
    await eventually(() => kubelet.runtime.container('late-main')?.state === 'CONTAINER_EXITED');
  });

  it.each([
    [
      'big',
      { containers: [{ name: 'c', image: 'busybox', resources: { requests: { cpu: '1k' } } }] },
      'OutOfcpu',
    ],
    ['elsewhere', { nodeSelector: { disk: 'ssd' } }, 'NodeAffinity'],
    ['windows', { os: { name: 'windows' } }, 'PodOSNotSupported'],
  ])('refuses the pod "%s" and says why in its status', async (name, spec, reason) => {
    await kubelet.create(name, spec as never);
    const pod = await kubelet.phase(name, 'Failed');
    expect(pod.status?.reason).toBe(reason);
    expect(pod.status?.message).toMatch(/^Pod was rejected: \S/);
    expect(pod.status?.containerStatuses).toBeUndefined();
  });

  it('runs hooks: postStart before the container counts as started, preStop before it is stopped', async () => {
    const commands: string[] = [];
    kubelet.runtime.exec = (_container, command) => {
      commands.push(command.join(' '));
      return { exitCode: 0 };
    };
    await kubelet.create('hooked', {
      containers: [
        {
          name: 'hooked-main',
          image: 'busybox',
          lifecycle: {
            postStart: { exec: { command: ['warm', 'up'] } },
            preStop: { exec: { command: ['say', 'bye'] } },
          },
        },
      ],
    });
    await kubelet.phase('hooked', 'Running');
    expect(commands).toEqual(['warm up']);
    await kubelet.client.for(Pods).delete('hooked', { namespace: 'default' });
    await eventually(() => kubelet.runtime.container('hooked-main') === undefined);
    expect(commands).toEqual(['warm up', 'say bye']);
  });

  it('kills a container whose postStart hook fails, and starts it again', async () => {
    let calls = 0;
    kubelet.runtime.exec = () => (calls++ === 0 ? { exitCode: 9, stdout: 'cold' } : { exitCode: 0 });
    const lifecycle = { postStart: { exec: { command: ['warm', 'up'] } } };
    await kubelet.create('cold', { containers: [{ name: 'cold-main', image: 'busybox', lifecycle }] });
    await eventually(async () =>
      expect((await kubelet.get('cold')).status?.containerStatuses?.[0]).toMatchObject({
        restartCount: 1,
        ready: true,
      }),
    );
    expect(calls).toBe(2);
  });

  it('ends a pod also while its postStart hook hangs', async () => {
    const called = new Promise<void>((resolve) => {
      kubelet.runtime.exec = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const lifecycle = { postStart: { exec: { command: ['wait', 'forever'] } } };
    await kubelet.create('hangs', { containers: [{ name: 'hangs-main', image: 'busybox', lifecycle }] });
    await called;
    await kubelet.client.for(Pods).delete('hangs', { namespace: 'default' });
    await eventually(() => kubelet.runtime.container('hangs-main') === undefined);
  });

  it.each<[string, string, object]>([
    ['its image is', 'pulls', { containers: [{ name: 'pulls-main', image: 'example.com/large:1' }] }],
    [
      'an image that it mounts is',
      'mounts',
      {
        volumes: [{ name: 'v', image: { reference: 'example.com/large:2' } }],
        containers: [
          { name: 'mounts-main', image: 'busybox', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
        ],
      },
    ],
  ])('ends a pod also while %s being pulled, and has the image afterwards', async (_, name, spec) => {
    let arrive: () => void = () => undefined;
    const pulled = new Promise<void>((resolve) => (arrive = resolve));
    const asked = new Promise<void>((resolve) => {
      kubelet.runtime.onPull = () => {
        resolve();
        return pulled;
      };
    });
    try {
      await kubelet.create(name, spec);
      await asked;
      await kubelet.client.for(Pods).delete(name, { namespace: 'default' });
      await eventually(async () => {
        const gone = await kubelet.get(name).catch((error: unknown) => error);
        expect(isNotFound(gone)).toBe(true);
      });
    } finally {
      arrive();
      kubelet.runtime.onPull = () => undefined;
    }
    const large = name === 'pulls' ? 'example.com/large:1' : 'example.com/large:2';
    await eventually(() => kubelet.runtime.images.has(large));
    expect(kubelet.runtime.container(`${name}-main`)).toBeUndefined();
  });

  it('resizes a running container in place, and restarts it where its policy says so', async () => {
    const resources = (memory: string) => ({
      requests: { cpu: '10m', memory },
      limits: { cpu: '10m', memory },
    });
    await kubelet.create('grows', {
      containers: [
        {
          name: 'grows-main',
          image: 'busybox',
          resources: resources('64Mi'),
          resizePolicy: [
            { resourceName: 'memory', restartPolicy: 'NotRequired' },
            { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
          ],
        },
      ],
    });
    await kubelet.phase('grows', 'Running');
    const id = kubelet.runtime.container('grows-main')?.id;
    const resize = (to: object) =>
      kubelet.client
        .for(Pods)
        .patch(
          'grows',
          { spec: { containers: [{ name: 'grows-main', resources: to }] } },
          { type: 'strategic', subresource: 'resize', namespace: 'default' },
        );
    await resize(resources('128Mi'));
    await eventually(() =>
      kubelet.runtime.calls.includes(`UpdateContainerResources grows-main ${128 * 1024 * 1024}`),
    );
    await eventually(async () => {
      const status = (await kubelet.get('grows')).status?.containerStatuses?.[0];
      expect(status?.resources?.limits?.memory).toBe('128Mi');
      expect(status?.restartCount).toBe(0);
    });
    await resize({
      ...resources('128Mi'),
      requests: { cpu: '20m', memory: '128Mi' },
      limits: { cpu: '20m', memory: '128Mi' },
    });
    await eventually(async () => {
      expect((await kubelet.get('grows')).status?.containerStatuses?.[0]).toMatchObject({
        restartCount: 1,
        ready: true,
      });
    });
    expect(kubelet.runtime.container('grows-main')?.id).not.toBe(id);
  });

  it('defers a resize that there is no room for, says so, and does it when there is', async () => {
    const resources = (cpu: string) => ({ requests: { cpu } });
    const { status } = await kubelet.client.for(Nodes).get(nodeName);
    const half = `${Math.floor(Number(status?.allocatable?.cpu) * 600)}m`;
    const container = (name: string, cpu: string) => ({
      containers: [{ name, image: 'busybox', resources: resources(cpu) }],
    });
    await kubelet.create('neighbour', container('neighbour-main', half));
    await kubelet.create('patient', container('patient-main', '10m'));
    await kubelet.phase('neighbour', 'Running');
    await kubelet.phase('patient', 'Running');
    await kubelet.client.for(Pods).patch(
      'patient',
      { spec: container('patient-main', half) },
      {
        type: 'strategic',
        subresource: 'resize',
        namespace: 'default',
      },
    );
    await eventually(async () => {
      const pod = await kubelet.get('patient');
      expect(conditionOf(pod, 'PodResizePending')).toMatchObject({
        status: 'True',
        reason: 'Deferred',
        message: expect.stringContaining("Node didn't have enough resource: cpu"),
      });
      expect(pod.status?.containerStatuses?.[0]?.allocatedResources?.cpu).toBe('10m');
    });
    await kubelet.client.for(Pods).delete('neighbour', { namespace: 'default', gracePeriodSeconds: 0 });
    await eventually(async () => {
      const pod = await kubelet.get('patient');
      expect(conditionOf(pod, 'PodResizePending')).toBeUndefined();
      expect(pod.status?.containerStatuses?.[0]?.resources?.requests?.cpu).toBe(half);
    });
  });

  it('kills at once when a pod that is ending is deleted by force', async () => {
    let release: (code: number) => void = () => undefined;
    const graces: number[] = [];
    kubelet.runtime.onStop = (_container, grace) => {
      graces.push(grace);
      return grace === 1 ? 137 : new Promise<number>((resolve) => (release = resolve));
    };
    await kubelet.create('stubborn', { terminationGracePeriodSeconds: 60 });
    await kubelet.phase('stubborn', 'Running');
    await kubelet.client.for(Pods).delete('stubborn', { namespace: 'default' });
    await eventually(() => graces.length === 1);
    await kubelet.client.for(Pods).delete('stubborn', { namespace: 'default', gracePeriodSeconds: 0 });
    await eventually(() => kubelet.runtime.container('stubborn-main') === undefined);
    expect(graces).toEqual([60, 1]);
    release(143);
  });
});
