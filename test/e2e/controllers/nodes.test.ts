import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';

const directory = mkdtempSync(join(tmpdir(), 'tk-nodes-'));
const config = join(directory, 'kubelet.json');
const kubelet = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
// A sign of life every two seconds.
writeFileSync(config, JSON.stringify({ ...kubelet, nodeLeaseDurationSeconds: 8 }));

/** Nodes that fall silent, and what becomes of their Pods. Kubelets are stopped, not killed: they would be started again. */
const fixture = useCluster([
  '--nodes=3',
  '--storage=memory',
  '--without=cluster-dns,kube-proxy',
  `--extra-config=kubelet.config=${config}`,
  '--extra-config=controller-manager.node-monitor-grace-period=12s',
  '--extra-config=controller-manager.node-monitor-period=1s',
  '--extra-config=controller-manager.terminated-pod-gc-threshold=3',
]);
const { run, apply, read, until } = fixture;
const stopped = new Set<number>();
afterAll(() => {
  stopped.forEach((pid) => process.kill(pid, 'SIGCONT'));
  rmSync(directory, { recursive: true });
});

function signalKubelet(node: string, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const runner = join(__dirname, '../../../dist/run.cjs');
  const status = execFileSync(
    process.execPath,
    [runner, 'tinkernetes', 'status', `--data-dir=${fixture.cluster.dataDir}`],
    { encoding: 'utf8' },
  );
  const pid = Number(new RegExp(`kubelet-${node} +running +(\\d+)`).exec(status)?.[1]);
  process.kill(pid, signal);
  if (signal === 'SIGSTOP') stopped.add(pid);
  else stopped.delete(pid);
}

const onNode2 = { 'kubernetes.io/hostname': 'node-2' };
const tolerate = (tolerationSeconds?: number) =>
  ['unreachable', 'not-ready'].map((key) => ({
    ...{ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute' },
    tolerationSeconds,
  }));
const workload = (kind: string, name: string, { spec = {}, pod = {} }: { spec?: object; pod?: object }) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'nginx' }], terminationGracePeriodSeconds: 1, ...pod },
    },
    ...spec,
  },
});
const readyOf = (node: string) => read(`node/${node}`, '{.status.conditions[?(@.type=="Ready")].status}');
const messagesOf = (reason: string) => read('events -A', `{.items[?(@.reason=="${reason}")].message}`);

beforeAll(async () => {
  const done = Array.from({ length: 5 }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `done-${i}`, labels: { is: 'done' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] },
  }));
  await apply(...done);
});

it('C27: a silent node is Unknown, tainted, and out of its Services; Pods go after the time they tolerate', async () => {
  const preferNode2 = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: {
            matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-2'] }],
          },
        },
      ],
    },
  };
  const brief = { affinity: preferNode2, tolerations: tolerate(1) };
  await apply(
    workload('Deployment', 'web', { pod: brief }),
    workload('StatefulSet', 'db', { spec: { serviceName: 'db' }, pod: brief }),
    workload('DaemonSet', 'agent', {}),
    workload('Deployment', 'patient', { pod: { nodeSelector: onNode2, tolerations: tolerate() } }),
  );
  for (const name of ['deployment/web', 'sts/db', 'ds/agent', 'deployment/patient'])
    await run(`rollout status ${name} --timeout=120s`);
  await run('expose deployment patient --port=80');
  expect(await read('pods -l app=web', '{.items[*].spec.nodeName}')).toBe('node-2');
  expect(await read('pod/db-0', '{.spec.nodeName}')).toBe('node-2');
  const lost = await read('pods -l app=web', '{.items[0].metadata.name}');

  signalKubelet('node-2', 'SIGSTOP');
  await until(async () => expect(await readyOf('node-2')).toBe('Unknown'));
  const condition = await read('node/node-2', '{.status.conditions[?(@.type=="Ready")]}');
  expect(JSON.parse(condition)).toMatchObject({
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  });
  expect(await run('get node node-2 --no-headers')).toMatch(/^node-2 +NotReady /);
  await until(async () => {
    const taints = await read('node/node-2', '{range .spec.taints[*]}{.key}:{.effect} {end}');
    expect(taints.split(' ').sort()).toEqual([
      'node.kubernetes.io/unreachable:NoExecute',
      'node.kubernetes.io/unreachable:NoSchedule',
    ]);
    const ready = '{.items[0].endpoints[0].conditions.ready}';
    expect(await read('endpointslices -l kubernetes.io/service-name=patient', ready)).toBe('false');
  });
  expect(await read('pods -l app=patient', '{.items[*].status.phase}')).toBe('Running');
  await until(async () => {
    expect(await messagesOf('NodeNotReady')).toContain('Node node-2 status is now: NodeNotReady');
    expect(await messagesOf('NodeNotReady')).toContain('Node is not ready');
  });

  // A Deployment makes another; a StatefulSet can't, for the name is taken; a DaemonSet's Pod tolerates all of it.
  await run('rollout status deployment/web --timeout=120s');
  const target = '{.status.conditions[?(@.type=="DisruptionTarget")].reason}';
  await until(async () => {
    expect(await read(`pod/${lost}`, target)).toBe('DeletionByTaintManager');
    expect(await read('pod/db-0', '{.metadata.deletionTimestamp}')).not.toBe('');
    const places = await read(
      'pods -l app=web --field-selector=status.phase=Running',
      '{.items[*].spec.nodeName}',
    );
    expect(places).toMatch(/node-[13]/);
  });
  for (const app of ['agent', 'patient'])
    expect(await read(`pods -l app=${app}`, '{.items[*].metadata.deletionTimestamp}')).toBe('');
});

it('out of service: Pods of a node that is declared so are gone at once', async () => {
  await run('taint node node-2 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute');
  await until(async () => expect(await read('pod/db-0', '{.spec.nodeName}')).toMatch(/node-[13]/));
  await run('taint node node-2 node.kubernetes.io/out-of-service-');
});

it('a node that is heard again: loses the taints, and has its Pods again', async () => {
  signalKubelet('node-2', 'SIGCONT');
  await run('wait --for=condition=Ready node/node-2 --timeout=120s');
  await until(async () => expect(await read('node/node-2', '{.spec.taints}')).toBe(''));
  await run('rollout status ds/agent --timeout=120s');
  await until(async () => expect(await read('deployment/patient', '{.status.availableReplicas}')).toBe('1'));
});

it('a taint that is taken off again in time: the deletion is cancelled', async () => {
  const toleration = {
    ...{ key: 'example.com/away', operator: 'Exists', effect: 'NoExecute' },
    tolerationSeconds: 600,
  };
  await apply(
    workload('Deployment', 'hesitant', { pod: { nodeSelector: onNode2, tolerations: [toleration] } }),
  );
  await run('rollout status deployment/hesitant --timeout=120s');
  const name = await read('pods -l app=hesitant', '{.items[0].metadata.name}');
  // Whether the manager has seen the taint in time shows in what it says.
  await until(async () => {
    await run('taint node node-2 example.com/away=now:NoExecute --overwrite');
    await run('taint node node-2 example.com/away-');
    expect(await messagesOf('TaintManagerEviction')).toContain(`Cancelling deletion of Pod default/${name}`);
  });
  expect(await read(`pod/${name}`, '{.metadata.deletionTimestamp}')).toBe('');
});

it('finished Pods: the oldest beyond the threshold are removed', async () => {
  await until(async () => {
    const left = (await read('pods -l is=done', '{.items[*].metadata.name}')).split(' ');
    expect(left.length).toBeLessThanOrEqual(3);
  });
});

it('a Node that is removed: nobody watches over it any more', async () => {
  await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'visitor' } });
  await until(async () => {
    expect(await messagesOf('RegisteredNode')).toContain(
      'Node visitor event: Registered Node visitor in Controller',
    );
    expect(await read('node/visitor', '{.spec.podCIDR}')).toMatch(/^10\.244\.\d+\.0\/24$/);
  });
  await run('delete node visitor');
  await until(async () =>
    expect(await messagesOf('RemovingNode')).toContain(
      'Node visitor event: Removing Node visitor from Controller',
    ),
  );
});
