import { transcript } from '../../harness/clients';
import { useCluster } from '../../harness/cluster-fixture';
import { brokenImage, workload } from '../../harness/workloads';

const fixture = useCluster(['--nodes=2', '--storage=memory', '--without=kube-proxy,cluster-dns']);
const { run, attempt, apply, read, until } = fixture;
const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});
const finished = (name: string) => run(`rollout status deploy/${name} --timeout=120s`);
const condition = (name: string, type: string) =>
  read(`deploy/${name}`, `{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason}{end}`);
/** `image=replicas` of the ReplicaSets, the oldest first. */
const sizes = async (name: string) => {
  const each = '{range .items[*]}{.spec.template.spec.containers[0].image}={.spec.replicas} {end}';
  return (await read(`rs -l app=${name} --sort-by=.metadata.creationTimestamp`, each)).split(' ').sort();
};
const setImage = (name: string, image: string) => run(`set image deploy/${name} main=${image}`);
const messages = async (name: string) =>
  (
    await read(
      `events --field-selector involvedObject.name=${name}`,
      '{range .items[*]}{.message}{"\\n"}{end}',
    )
  )
    .split('\n')
    .map((message) => message.replace(/-[a-z0-9]+ from/, ' from'));

it('C21 rounds maxSurge up, so that so many more Pods are there at once', async () => {
  // Where no node is, Pods cost nothing.
  const pod = { spec: { nodeSelector: { nowhere: 'true' } } };
  const of = (replicas: number) =>
    workload('Deployment', `of-${replicas}`, { replicas, ...rolling('25%', '25%') }, pod);
  await apply(of(1), of(4), of(5), of(10));
  const most = String.raw`{.items[*].metadata.annotations.deployment\.kubernetes\.io/max-replicas}`;
  for (const [replicas, allowed] of [
    [1, 2],
    [4, 5],
    [5, 7],
    [10, 13],
  ])
    await until(async () => expect(await read(`rs -l app=of-${replicas}`, most)).toBe(String(allowed)));
  await run('delete deploy of-1 of-4 of-5 of-10');
});

it('C21 refuses neither surge nor unavailable Pods, and takes one away where both round to nothing', async () => {
  const refused = await attempt(
    'apply -f -',
    JSON.stringify(workload('Deployment', 'none', rolling(0, '0%'))),
  );
  expect(refused.stderr).toContain(
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
  );
  await apply(workload('Deployment', 'few', { replicas: 3, ...rolling(0, '1%') }));
  await finished('few');
  await setImage('few', brokenImage);
  await until(async () => expect(await sizes('few')).toEqual(['busybox=2', `${brokenImage}=1`]));
});

it('C21 asks for no more Pods than replicas and surge together, at any change that a watcher sees', async () => {
  await apply(workload('Deployment', 'bounds', { replicas: 4, ...rolling('25%', '25%') }));
  await finished('bounds');
  const sizeOf = 'jsonpath={.spec.template.spec.containers[0].image} {.spec.replicas}{"\\n"}';
  const watch = fixture.kubectl.spawn(['get', 'rs', '-l', 'app=bounds', '--watch', '-o', sizeOf]);
  try {
    const seen = transcript(watch);
    await seen.until('busybox 4');
    await setImage('bounds', 'nginx');
    await seen.until('nginx 4');
    await seen.until('busybox 0');
    const latest = new Map<string, number>();
    for (const line of seen.text().trim().split('\n')) {
      const [image = '', replicas] = line.split(' ');
      latest.set(image, Number(replicas));
      expect([...latest.values()].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(5);
    }
  } finally {
    watch.kill();
  }
});

it('C21 keeps the old Pod while the new one is not ready, and says so when its time is over', async () => {
  await apply(workload('Deployment', 'one'));
  await finished('one');
  expect(await read('deploy/one', '{.metadata.generation}')).toBe('1');
  const containers = [{ name: 'main', image: brokenImage }];
  const change = { progressDeadlineSeconds: 2, template: { spec: { containers } } };
  await run(['patch', 'deploy', 'one', '-p', JSON.stringify({ spec: change })]);
  const { stderr } = await attempt('rollout status deploy/one --timeout=120s');
  expect(stderr).toContain('error: deployment "one" exceeded its progress deadline');
  expect(await condition('one', 'Progressing')).toBe('False ProgressDeadlineExceeded');
  expect(await condition('one', 'Available')).toBe('True MinimumReplicasAvailable');
  expect(await sizes('one')).toEqual(['busybox=1', `${brokenImage}=1`]);
  expect(await run('rollout undo deploy/one')).toContain('deployment.apps/one rolled back');
  await until(async () => {
    expect(await condition('one', 'Progressing')).toBe('True NewReplicaSetAvailable');
    expect(await sizes('one')).toEqual(['busybox=1', `${brokenImage}=0`]);
  });
});

it('scales in proportion while it rolls out, as the Deployment page tells of 5 of 15', async () => {
  await apply(workload('Deployment', 'share', { replicas: 10, ...rolling(3, 2) }));
  await finished('share');
  await setImage('share', brokenImage);
  await until(async () => expect(await sizes('share')).toEqual(['busybox=8', `${brokenImage}=5`]));
  await run('scale deploy/share --replicas=15');
  await until(async () => expect(await sizes('share')).toEqual(['busybox=11', `${brokenImage}=7`]));
  await run('delete deploy share');
});

it('does nothing with its template while it is paused, and all at once when it is resumed', async () => {
  await apply(workload('Deployment', 'calm', { replicas: 1 }));
  await finished('calm');
  await run('rollout pause deploy/calm');
  await until(async () => expect(await condition('calm', 'Progressing')).toBe('Unknown DeploymentPaused'));
  await setImage('calm', 'nginx');
  await run('set env deploy/calm LEVEL=2');
  await run('scale deploy/calm --replicas=2');
  await until(async () => expect(await sizes('calm')).toEqual(['busybox=2']));
  await run('rollout resume deploy/calm');
  await finished('calm');
  expect(await sizes('calm')).toEqual(['busybox=0', 'nginx=2']);
});

it('keeps as many revisions as it is to, tells their causes and goes back to one', async () => {
  await apply(workload('Deployment', 'past', { replicas: 0, revisionHistoryLimit: 2 }));
  for (const version of [1, 2, 3, 4]) {
    await run(['annotate', 'deploy', 'past', '--overwrite', `kubernetes.io/change-cause=version ${version}`]);
    await run(`set env deploy/past VERSION=${version}`);
    await finished('past');
  }
  const lines = async () => (await run('rollout history deploy/past')).trim().split('\n').slice(2);
  await until(async () =>
    expect((await lines()).map((line) => line.split(/\s+/)[0])).toEqual(['3', '4', '5']),
  );
  expect((await lines()).at(-1)).toBe('5         version 4');
  expect(await run('rollout history deploy/past --revision=3')).toMatch(/VERSION:\s+2/);
  await run('rollout undo deploy/past --to-revision=3');
  await finished('past');
  await until(async () =>
    expect((await lines()).map((line) => line.split(/\s+/)[0])).toEqual(['4', '5', '6']),
  );
  const env = '{.spec.template.spec.containers[0].env[0].value}';
  expect(await read('deploy/past', env)).toBe('2');
  const history = String.raw`{.items[*].metadata.annotations.deployment\.kubernetes\.io/revision-history}`;
  expect(await read('rs -l app=past', history)).toBe('3');
  expect((await attempt('rollout undo deploy/past --to-revision=1')).stderr).toContain(
    'unable to find specified revision 1',
  );
});

it('restarts its Pods, and counts up where a ReplicaSet has the name that it wants', async () => {
  await apply(workload('Deployment', 'clash', { replicas: 0 }));
  await finished('clash');
  const taken = await read('rs -l app=clash', '{.items[0].metadata.name}');
  await run('delete deploy clash --cascade=orphan');
  await run(`set image rs/${taken} main=nginx`);
  await apply(workload('Deployment', 'clash', { replicas: 1 }));
  await finished('clash');
  expect(await read('deploy/clash', '{.status.collisionCount}')).toBe('1');
  expect(await sizes('clash')).toEqual(['busybox=1', 'nginx=0']);
  expect(await run('rollout restart deploy/clash')).toContain('deployment.apps/clash restarted');
  await finished('clash');
  expect(await sizes('clash')).toEqual(['busybox=0', 'busybox=1', 'nginx=0']);
});

it('takes a Pod for available when it has been ready for minReadySeconds', async () => {
  await apply(workload('Deployment', 'slow', { minReadySeconds: 3600, progressDeadlineSeconds: 7200 }));
  await until(async () => expect(await read('deploy/slow', '{.status.readyReplicas}')).toBe('1'));
  expect(await condition('slow', 'Available')).toBe('False MinimumReplicasUnavailable');
  expect(await condition('slow', 'Progressing')).toBe('True ReplicaSetUpdated');
  await run(['patch', 'deploy', 'slow', '-p', '{"spec":{"minReadySeconds":0}}']);
  await finished('slow');
});

it('with Recreate waits for the end of every old Pod before the first new one', async () => {
  const stubborn = { spec: { terminationGracePeriodSeconds: 3600 } };
  const spec = { replicas: 2, strategy: { type: 'Recreate' } };
  await apply(
    workload('Deployment', 'anew', spec, {
      ...stubborn,
      container: { command: ['sh', '-c', 'trap "" TERM; while :; do sleep 3600; done'] },
    }),
  );
  await finished('anew');
  await setImage('anew', 'nginx');
  await until(async () => {
    expect(await sizes('anew')).toEqual(['busybox=0']);
    expect(await read('deploy/anew', '{.status.terminatingReplicas}')).toBe('2');
  });
  await run('delete pod -l app=anew --force --grace-period=0');
  await finished('anew');
  expect(await sizes('anew')).toEqual(['busybox=0', 'nginx=2']);
  expect(await messages('anew')).toEqual([
    'Scaled up replica set anew from 0 to 2',
    'Scaled down replica set anew from 2 to 0',
    'Scaled up replica set anew from 0 to 2',
  ]);
});
