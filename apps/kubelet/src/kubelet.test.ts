import { Events, Leases, Namespaces, Nodes, Pods, ServiceAccounts, type Pod } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { createClient, type Client } from '@tinkernetes/client';
import {
  createMetrics,
  createStepTracer,
  parseFlags,
  realClock,
  realRandom,
} from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { kubeconfigText, startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flags, toOptions } from './options';
import { run } from './run';
import { FakeRuntime } from './testing/fake-runtime';

const nodeName = 'node-1';

describe('kubelet', () => {
  let apiServer: TestApiServer;
  let client: Client;
  let directory: string;
  let runtime: FakeRuntime;
  let stop: AbortController;
  let running: Promise<void>;

  beforeAll(async () => {
    apiServer = await startApiServer();
    client = createClient(apiServer.adminConfig);
    await client
      .for(Namespaces)
      .create({ metadata: { name: 'kube-node-lease' }, spec: {} })
      .catch(() => undefined);
    await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: 'default' });
    directory = await mkdtemp(join(tmpdir(), 'kubelet-'));
    runtime = new FakeRuntime(`unix://${join(directory, 'cri.sock')}`);
    await runtime.start();
    await writeFile(
      join(directory, 'kubeconfig'),
      kubeconfigText(await apiServer.configFor(`system:node:${nodeName}`, 'system:nodes', 'system:masters')),
    );
    await start();
  }, 30_000);

  afterAll(async () => {
    stop.abort(new Error('test is over'));
    await running;
    runtime.stop();
    client.close();
    await apiServer.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    stop = new AbortController();
    const options = toOptions(
      parseFlags(flags, [
        `--kubeconfig=${join(directory, 'kubeconfig')}`,
        `--root-dir=${join(directory, 'root')}`,
        `--container-runtime-endpoint=${runtime.endpoint}`,
        `--hostname-override=${nodeName}`,
        '--node-ip=172.30.0.11',
        '--port=0',
        '--address=127.0.0.1',
      ]),
    );
    const logger = process.env.KUBELET_LOG ? { ...console, child: () => silentLogger } : silentLogger;
    await new Promise<void>((resolve) => {
      running = run(options, {
        signal: stop.signal,
        clock: realClock,
        random: realRandom,
        logger: logger as typeof silentLogger,
        metrics: createMetrics(),
        tracer: createStepTracer({ component: 'kubelet' }),
        ready: () => resolve(),
      });
      running.catch((error: unknown) => console.error(error));
    });
  }

  const podSpec = (name: string, spec: Partial<Pod['spec']> = {}) => ({
    metadata: { name, namespace: 'default' },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 5,
      containers: [{ name: `${name}-main`, image: 'busybox' }],
      ...spec,
    },
  });
  const create = (name: string, spec?: Partial<Pod['spec']>) =>
    client.for(Pods).create(podSpec(name, spec), { namespace: 'default' });
  const get = (name: string) => client.for(Pods).get(name, { namespace: 'default' });
  const phase = (name: string, wanted: string) =>
    eventually(async () => {
      const pod = await get(name);
      expect(pod.status?.phase).toBe(wanted);
      return pod;
    });
  const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((c) => c.type === type);

  it('registers its node, hands the pod CIDR to the runtime and is ready then', async () => {
    await eventually(async () => {
      const node = await client.for(Nodes).get(nodeName);
      expect(node.status?.conditions?.find((c) => c.type === 'Ready')?.status).toBe('False');
    });
    await client
      .for(Nodes)
      .patch(
        nodeName,
        { spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] } },
        { type: 'merge' },
      );
    await eventually(async () => {
      const ready = (await client.for(Nodes).get(nodeName)).status?.conditions?.find(
        (c) => c.type === 'Ready',
      );
      expect(ready).toMatchObject({ status: 'True', reason: 'KubeletReady' });
    });
    expect(runtime.podCIDR).toBe('10.244.0.0/24');
    const lease = await eventually(() => client.for(Leases).get(nodeName, { namespace: 'kube-node-lease' }));
    expect(lease.spec?.leaseDurationSeconds).toBe(40);
  });

  it('runs a pod, tells its status, and ends it with its grace period', async () => {
    const started = performance.now();
    await create('web');
    const pod = await phase('web', 'Running');
    expect(performance.now() - started).toBeLessThan(2000);
    expect(condition(pod, 'Ready')?.status).toBe('True');
    expect(pod.status).toMatchObject({ hostIP: '172.30.0.11', qosClass: 'BestEffort' });
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      ready: true,
      started: true,
      restartCount: 0,
      image: 'busybox',
    });
    await client.for(Pods).delete('web', { namespace: 'default' });
    await eventually(async () => {
      const gone = await get('web').catch((error: unknown) => error);
      expect(isNotFound(gone)).toBe(true);
    });
    expect(runtime.calls).toContain('StopContainer web-main 5');
    await eventually(() => [...runtime.sandboxes.values()].every((s) => s.config.metadata?.name !== 'web'));
    const { items } = await client
      .for(Events)
      .list({ namespace: 'default', fieldSelector: 'involvedObject.name=web' });
    expect(items.map((e) => e.reason)).toEqual(
      expect.arrayContaining(['Pulling', 'Pulled', 'Created', 'Started', 'Killing']),
    );
  });

  it('completes a pod whose containers end and never restart', async () => {
    await create('job', { restartPolicy: 'Never' });
    await phase('job', 'Running');
    runtime.exit('job-main', 0);
    const pod = await phase('job', 'Succeeded');
    expect(condition(pod, 'Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' });
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 0,
      reason: 'Completed',
    });
  });

  it('restarts a crashed container at once, then with back-off', async () => {
    await create('crash');
    await phase('crash', 'Running');
    runtime.exit('crash-main', 1);
    await eventually(async () => {
      const pod = await get('crash');
      expect(pod.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: true });
    });
    runtime.exit('crash-main', 1);
    await eventually(async () => {
      const state = (await get('crash')).status?.containerStatuses?.[0]?.state;
      expect(state?.waiting?.reason).toBe('CrashLoopBackOff');
      expect(state?.waiting?.message).toMatch(
        /^back-off 10s restarting failed container=crash-main pod=crash_default\(/,
      );
    });
  });

  it('runs init containers in order and sidecars beside the main container', async () => {
    await create('staged', {
      restartPolicy: 'Never',
      initContainers: [
        { name: 'prep', image: 'busybox' },
        { name: 'proxy', image: 'busybox', restartPolicy: 'Always' },
        { name: 'warm', image: 'busybox' },
      ],
      containers: [{ name: 'main', image: 'busybox' }],
    });
    await eventually(() => runtime.container('prep')?.state === 'CONTAINER_RUNNING');
    expect(runtime.container('proxy')).toBeUndefined();
    expect((await get('staged')).status?.phase).toBe('Pending');
    runtime.exit('prep', 0);
    await eventually(() => runtime.container('warm')?.state === 'CONTAINER_RUNNING');
    expect(runtime.container('proxy')?.state).toBe('CONTAINER_RUNNING');
    expect(runtime.container('main')).toBeUndefined();
    runtime.exit('warm', 0);
    await phase('staged', 'Running');
    const proxy = runtime.container('proxy')?.id;
    runtime.exit('proxy', 1);
    await eventually(async () => {
      const pod = await get('staged');
      expect(pod.status?.initContainerStatuses?.[1]).toMatchObject({ restartCount: 1, started: true });
    });
    expect(runtime.container('proxy')?.id).not.toBe(proxy);
    runtime.exit('main', 0);
    const done = await phase('staged', 'Succeeded');
    expect(done.status?.containerStatuses).toHaveLength(1);
    await eventually(() => runtime.container('proxy')?.state === 'CONTAINER_EXITED');
  });

  it('says why an image cannot be pulled, and backs off', async () => {
    runtime.broken.set('nowhere/none:1', 'failed to resolve reference "nowhere/none:1": not found');
    await create('unpullable', { containers: [{ name: 'c', image: 'nowhere/none:1' }] });
    await eventually(async () => {
      const state = (await get('unpullable')).status?.containerStatuses?.[0]?.state;
      expect(state?.waiting?.reason).toBe('ErrImagePull');
      expect(state?.waiting?.message).toContain('failed to resolve reference');
    });
  });

  it('reports RunContainerError for a command that does not exist', async () => {
    await create('nocmd', { containers: [{ name: 'nocmd-main', image: 'busybox', command: ['/no/such'] }] });
    await eventually(async () => {
      const status = (await get('nocmd')).status?.containerStatuses?.[0];
      expect(status?.state?.waiting?.reason ?? status?.lastState?.terminated?.exitCode).toBeDefined();
      expect(status?.lastState?.terminated?.exitCode).toBe(127);
    });
  });

  it('goes on with running containers after its own restart', async () => {
    await create('steady');
    await phase('steady', 'Running');
    const id = runtime.container('steady-main')?.id;
    stop.abort(new Error('restart'));
    await running;
    runtime.calls.length = 0;
    await start();
    await create('after-restart');
    await phase('after-restart', 'Running');
    expect(runtime.container('steady-main')?.id).toBe(id);
    expect(runtime.calls.filter((c) => c.includes('steady'))).toEqual([]);
  });
});
