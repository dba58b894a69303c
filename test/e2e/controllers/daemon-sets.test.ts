import { useCluster } from '../../harness/cluster-fixture';
import { brokenImage, workload } from '../../harness/workloads';

const { run, attempt, apply, read, until } = useCluster([
  '--nodes=3',
  '--storage=memory',
  '--without=kube-proxy,cluster-dns',
]);
const finished = (name: string) => run(`rollout status ds/${name} --timeout=120s`);
/** `node-1=image …` of the Pods that stay. */
const places = async (app: string) => {
  const each =
    '{range .items[*]}{.spec.nodeName}={.spec.containers[0].image}{.metadata.deletionTimestamp} {end}';
  return (await read(`pods -l app=${app}`, each)).split(' ').sort();
};
const on = (image: string, ...nodes: number[]) => nodes.map((node) => `node-${node}=${image}`);
const setImage = (name: string, image: string) => run(`set image ds/${name} main=${image}`);
const status = (name: string) =>
  read(
    `ds/${name}`,
    '{.status.desiredNumberScheduled}/{.status.currentNumberScheduled}/{.status.numberMisscheduled}',
  );
const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });

it('runs where its selector and affinity lead, follows labels, and leaves what it may no longer be on', async () => {
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
  };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  await apply(workload('DaemonSet', 'disks', {}, { spec: { affinity } }));
  await until(async () => expect(await read('ds/disks', '{.status.observedGeneration}')).toBe('1'));
  expect(await status('disks')).toBe('0/0/0');
  await run('label node node-1 node-3 disk=ssd');
  await until(async () => expect(await places('disks')).toEqual(on('busybox', 1, 3)));
  await run('label node node-1 disk-');
  await until(async () => expect(await places('disks')).toEqual(on('busybox', 3)));
});

it('bears what nodes suffer from, and what its template bears', async () => {
  await apply(workload('DaemonSet', 'tough'));
  await finished('tough');
  const tolerations = await read(
    'pods -l app=tough',
    '{range .items[0].spec.tolerations[*]}{.key}:{.effect}:{.tolerationSeconds} {end}',
  );
  expect(tolerations.split(' ').sort()).toEqual([
    'node.kubernetes.io/disk-pressure:NoSchedule:',
    'node.kubernetes.io/memory-pressure:NoSchedule:',
    'node.kubernetes.io/not-ready:NoExecute:',
    'node.kubernetes.io/pid-pressure:NoSchedule:',
    'node.kubernetes.io/unreachable:NoExecute:',
    'node.kubernetes.io/unschedulable:NoSchedule:',
  ]);
  const tainted = [{ key: 'only', operator: 'Exists' }];
  await run('cordon node-1');
  await run('taint node node-2 only=some:NoSchedule');
  await apply(
    workload('DaemonSet', 'plain'),
    workload('DaemonSet', 'special', {}, { spec: { tolerations: tainted } }),
  );
  await until(async () => {
    expect(await places('plain')).toEqual(on('busybox', 1, 3));
    expect(await places('special')).toEqual(on('busybox', 1, 2, 3));
    // Who was there before may stay.
    expect(await status('tough')).toBe('2/2/1');
  });
  await run('taint node node-2 only=some:NoExecute');
  await until(async () => {
    expect(await places('tough')).toEqual(on('busybox', 1, 3));
    expect(await places('special')).toEqual(on('busybox', 1, 2, 3));
  });
  await run('uncordon node-1');
  await run('taint node node-2 only-');
  await until(async () => expect(await places('tough')).toEqual(on('busybox', 1, 2, 3)));
  await run('delete ds plain special tough');
});

it('comes to a node that is added, and goes with one that is removed', async () => {
  await apply(workload('DaemonSet', 'grows'));
  await finished('grows');
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-9' } };
  await apply(node);
  await until(async () => expect(await status('grows')).toBe('4/4/0'));
  const target =
    '{range .items[*]}{.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0]} {end}';
  expect((await read('pods -l app=grows', target)).split(' ').sort()).toEqual([
    'node-1',
    'node-2',
    'node-3',
    'node-9',
  ]);
  await run('delete node node-9');
  await until(async () => {
    expect(await status('grows')).toBe('3/3/0');
    expect(await places('grows')).toEqual(on('busybox', 1, 2, 3));
  });
  await run('delete ds grows');
});

it('replaces as many Pods at once as may be unavailable, and goes back', async () => {
  await apply(workload('DaemonSet', 'rolls', rolling({ maxUnavailable: 2 })));
  await finished('rolls');
  await run(['annotate', 'ds', 'rolls', 'kubernetes.io/change-cause=broken']);
  await setImage('rolls', brokenImage);
  await until(async () => {
    expect((await places('rolls')).filter((place) => place.endsWith('=busybox'))).toHaveLength(1);
    expect((await places('rolls')).filter((place) => place.endsWith(brokenImage))).toHaveLength(2);
  });
  expect(await read('ds/rolls', '{.status.updatedNumberScheduled}/{.status.numberUnavailable}')).toBe('2/2');
  expect((await run('rollout history ds/rolls')).trim().split('\n').slice(1)).toEqual([
    'REVISION  CHANGE-CAUSE',
    '1         <none>',
    '2         broken',
  ]);
  await run('rollout undo ds/rolls');
  await finished('rolls');
  expect(await places('rolls')).toEqual(on('busybox', 1, 2, 3));
  expect(await run('rollout restart ds/rolls')).toContain('daemonset.apps/rolls restarted');
  await finished('rolls');
  await run('delete ds rolls');
});

it('with surge makes the new Pod first, and keeps the old one until that is ready', async () => {
  await apply(workload('DaemonSet', 'surges', rolling({ maxSurge: 1, maxUnavailable: 0 })));
  await finished('surges');
  await setImage('surges', brokenImage);
  await until(async () => expect(await places('surges')).toHaveLength(4));
  expect((await places('surges')).filter((place) => place.endsWith('=busybox'))).toHaveLength(3);
  await setImage('surges', 'nginx');
  await finished('surges');
  await until(async () => expect(await places('surges')).toEqual(on('nginx', 1, 2, 3)));
  await run('delete ds surges');
});

it('with OnDelete replaces a Pod when somebody deletes it', async () => {
  await apply(workload('DaemonSet', 'manual', { updateStrategy: { type: 'OnDelete' } }));
  await until(async () => expect(await read('ds/manual', '{.status.numberReady}')).toBe('3'));
  await setImage('manual', 'nginx');
  await until(async () => expect(await read('ds/manual', '{.status.observedGeneration}')).toBe('2'));
  expect(await places('manual')).toEqual(on('busybox', 1, 2, 3));
  await run('delete pod -l app=manual --field-selector=spec.nodeName=node-2');
  await until(async () =>
    expect(await places('manual')).toEqual([...on('busybox', 1), ...on('nginx', 2), ...on('busybox', 3)]),
  );
});

it('replaces a Pod that has failed, and tells of it', async () => {
  await apply(
    workload('DaemonSet', 'fails', {}, { spec: { nodeSelector: { 'kubernetes.io/hostname': 'node-1' } } }),
  );
  await finished('fails');
  const pod = await read('pods -l app=fails', '{.items[0].metadata.name}');
  await run(['patch', 'pod', pod, '-p', '{"spec":{"activeDeadlineSeconds":1}}']);
  await until(async () => {
    expect(await read('pods -l app=fails', '{.items[0].metadata.name}')).not.toBe(pod);
    expect(await read('ds/fails', '{.status.numberReady}')).toBe('1');
  });
  expect(await read('events --field-selector reason=FailedDaemonPod', '{.items[0].message}')).toBe(
    `Found failed daemon pod default/${pod} on node node-1, will try to kill it`,
  );
});

it('tells how far it is where a quota refuses its Pods, and refuses neither surge nor unavailable Pods', async () => {
  await run('create namespace tight');
  await run('-n tight create quota none --hard=pods=0');
  await until(async () => expect(await read('-n tight quota/none', '{.status.hard.pods}')).toBe('0'));
  await run('apply -n tight -f -', JSON.stringify(workload('DaemonSet', 'refused')));
  await until(async () =>
    expect(
      await read(
        '-n tight ds/refused',
        '{.status.observedGeneration}/{.status.desiredNumberScheduled}/{.status.currentNumberScheduled}',
      ),
    ).toBe('1/3/0'),
  );
  const none = workload('DaemonSet', 'none', rolling({ maxSurge: 0, maxUnavailable: 0 }));
  expect((await attempt('apply -f -', JSON.stringify(none))).stderr).toContain(
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  );
});
