import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell, waits } from '../../harness/pods';
import { workload } from '../../harness/workloads';

/** A node that shuts down in order, and one that is lost. */
const flags = [
  '--extra-config=controller-manager.node-monitor-period=500ms',
  '--extra-config=controller-manager.node-monitor-grace-period=8s',
  '--extra-config=kubelet.node-status-update-frequency=1s',
  '--extra-config=kubelet.shutdown-grace-period=60s',
  '--extra-config=kubelet.shutdown-grace-period-critical-pods=10s',
];
const fixture = useCluster(['--nodes=3', ...flags]);
const { run, attempt, apply, read, until } = fixture;

const runner = join(__dirname, '../../../dist/run.cjs');
function pidOf(component: string): number {
  const table = execFileSync(
    process.execPath,
    [runner, 'tinkernetes', 'status', `--data-dir=${fixture.cluster.dataDir}`],
    { encoding: 'utf8' },
  );
  const row = table.split('\n').find((line) => line.startsWith(`${component} `));
  return Number(row?.split(/ +/)[2]);
}
const disruption = (pod: string) =>
  read(`pod/${pod}`, '{.status.conditions[?(@.type=="DisruptionTarget")].reason}');

it('shuts down in order: Pods end, critical ones last, and no more come', async () => {
  const on = (spec: object) => ({ nodeName: 'node-3', ...spec });
  await apply(
    podOf('ordinary', on({ containers: [shell('main', waits('echo bye; exit 0'))] })),
    podOf(
      'critical',
      on({ priorityClassName: 'system-node-critical', containers: [shell('main', waits())] }),
      { namespace: 'kube-system' },
    ),
  );
  await run('wait --for=condition=Ready pod/ordinary --timeout=120s');
  await run('-n kube-system wait --for=condition=Ready pod/critical --timeout=120s');
  process.kill(pidOf('kubelet-node-3'), process.platform === 'linux' ? 'SIGPWR' : 'SIGUSR2');
  const path = '{.status.phase} {.status.reason}: {.status.message}';
  const message = 'Pod was terminated in response to imminent node shutdown.';
  await until(async () => {
    expect(await read('pod/ordinary', path)).toBe(`Failed Terminated: ${message}`);
    expect(await read('pod/critical -n kube-system', path)).toBe(`Failed Terminated: ${message}`);
  });
  expect(await disruption('ordinary')).toBe('TerminationByKubelet');
  const finished = '{.status.containerStatuses[0].state.terminated.finishedAt}';
  const [first, last] = [
    await read('pod/ordinary', finished),
    await read('pod/critical -n kube-system', finished),
  ];
  expect(Date.parse(first)).toBeLessThanOrEqual(Date.parse(last));
  const ready = '{.status.conditions[?(@.type=="Ready")].message}';
  await until(async () => expect(await read('node/node-3', ready)).toBe('node is shutting down'));
  await apply(podOf('too-late', on({ containers: [shell('main', waits())] })));
  await until(async () =>
    expect((await run('get pod too-late --no-headers')).split(/ +/)[2]).toBe('NodeShutdown'),
  );
});

it('C27: is lost: its Pods are not ready, then evicted and replaced where that is safe; it comes back', async () => {
  const soon = ['not-ready', 'unreachable'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 1,
  }));
  const there = { nodeSelector: { place: 'edge' }, tolerations: soon };
  await run('label node node-2 place=edge');
  await apply(
    workload('Deployment', 'web', { replicas: 1 }, { spec: there }),
    workload('StatefulSet', 'db', { serviceName: 'db', replicas: 1 }, { spec: there }),
    workload('DaemonSet', 'agent', {}, { spec: { nodeSelector: { place: 'edge' } } }),
  );
  for (const name of ['deploy/web', 'sts/db', 'ds/agent']) await run(`rollout status ${name} --timeout=120s`);
  const web = await read('pods -l app=web', '{.items[*].metadata.name}');
  const before = await read('pod/db-0', '{.metadata.uid}');
  const kubelet = pidOf('kubelet-node-2');
  process.kill(kubelet, 'SIGSTOP');
  try {
    const ready = '{.status.conditions[?(@.type=="Ready")]}';
    await until(async () =>
      expect(JSON.parse(await read('node/node-2', ready))).toMatchObject({
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
      }),
    );
    await until(async () => {
      expect(await read('node/node-2', '{.spec.taints[*].key} {.spec.taints[*].effect}')).toMatch(
        /^node\.kubernetes\.io\/unreachable node\.kubernetes\.io\/unreachable No(Schedule|Execute) No(Schedule|Execute)$/,
      );
      expect(await disruption(web)).toBe('DeletionByTaintManager');
      expect(await disruption('db-0')).toBe('DeletionByTaintManager');
    });
    expect(await read(`pod/${web}`, '{.status.phase}')).toBe('Running');
    expect((await run('get pod db-0 --no-headers')).split(/ +/)[2]).toBe('Terminating');
    // Its replacement waits for a node; that of the StatefulSet has the same name, and is not made.
    await until(async () => {
      const names = (await read('pods -l app=web', '{.items[*].metadata.name}')).split(' ');
      expect(names.length).toBe(2);
    });
    expect(await read('pod/db-0', '{.metadata.uid}')).toBe(before);
    expect(await read('pods -l app=agent', '{.items[*].metadata.deletionTimestamp}')).toBe('');
  } finally {
    process.kill(kubelet, 'SIGCONT');
  }
  await run('wait --for=condition=Ready node/node-2 --timeout=120s');
  await until(async () => expect((await attempt(`get pod ${web}`)).stderr).toContain('not found'));
  await until(async () => expect(await read('pod/db-0', '{.metadata.uid}')).not.toBe(before));
  await until(async () => expect(await read('node/node-2', '{.spec.taints}')).toBe(''));
  for (const name of ['deploy/web', 'sts/db', 'ds/agent']) await run(`rollout status ${name} --timeout=120s`);
});
