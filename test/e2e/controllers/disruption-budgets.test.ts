import { transcript } from '../../harness/clients';
import { useCluster } from '../../harness/cluster-fixture';
import { podSpec, workload } from '../../harness/workloads';

const fixture = useCluster(['--nodes=2', '--storage=memory', '--without=kube-proxy,cluster-dns']);
const { run, attempt, apply, read, until } = fixture;
const budget = (name: string, spec: object) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, ...spec },
});
/** `healthy/desired/expected allowed reason` */
const status = (name: string) =>
  read(
    `pdb/${name}`,
    '{.status.currentHealthy}/{.status.desiredHealthy}/{.status.expectedPods} {.status.disruptionsAllowed} {.status.conditions[0].reason}',
  );
const finished = (name: string) => run(`rollout status deploy/${name} --timeout=120s`);
const evict = (name: string) =>
  attempt(
    `create --raw /api/v1/namespaces/default/pods/${name}/eviction -f -`,
    JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }),
  );
const violated = "Cannot evict pod as it would violate the pod's disruption budget.";
/** Says by a file whether it is ready. */
const wavering = {
  container: { readinessProbe: { exec: { command: ['test', '-e', '/tmp/ready'] }, periodSeconds: 1 } },
};

it('counts by number and by percentage, which rounds up', async () => {
  await apply(
    workload('Deployment', 'least', { replicas: 3 }),
    budget('least', { minAvailable: '50%' }),
    workload('Deployment', 'most', { replicas: 3 }),
    budget('most', { maxUnavailable: '30%' }),
    workload('Deployment', 'number', { replicas: 3 }),
    budget('number', { minAvailable: 3 }),
  );
  await until(async () => {
    expect(await status('least')).toBe('3/2/3 1 SufficientPods');
    expect(await status('most')).toBe('3/2/3 1 SufficientPods');
    expect(await status('number')).toBe('3/3/3 0 InsufficientPods');
  });
  expect(await run('get pdb number')).toMatch(/number +3 +N\/A +0 /);
  await run('scale deploy/number --replicas=4');
  await until(async () => expect(await status('number')).toBe('4/3/4 1 SufficientPods'));
  await run('delete deploy,pdb least most number');
});

it('lets a Pod that is not ready go, always or only while enough others are', async () => {
  await apply(
    workload('Deployment', 'strict', { replicas: 2 }, wavering),
    budget('strict', { minAvailable: 2 }),
    workload('Deployment', 'lax', { replicas: 2 }, wavering),
    budget('lax', { minAvailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
  );
  await until(async () => {
    expect(await status('strict')).toBe('0/2/2 0 InsufficientPods');
    expect(await status('lax')).toBe('0/2/2 0 InsufficientPods');
    for (const app of ['strict', 'lax'])
      expect(await read(`pods -l app=${app}`, '{.items[*].status.phase}')).toBe('Running Running');
  });
  const [strict = '', lax = ''] = [
    await read('pods -l app=strict', '{.items[0].metadata.name}'),
    await read('pods -l app=lax', '{.items[0].metadata.name}'),
  ];
  expect((await evict(strict)).stderr).toContain(violated);
  expect((await evict(lax)).code).toBe(0);
  await run('delete deploy,pdb strict lax');
});

it('holds a drain until what it guards is available elsewhere', async () => {
  await apply(
    workload('Deployment', 'guarded', { replicas: 1 }, wavering),
    budget('guarded', { minAvailable: 1 }),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'lone' },
      spec: { ...podSpec('sleep 3600'), nodeName: 'node-1' },
    },
  );
  await until(async () =>
    expect(await read('pods -l app=guarded', '{.items[0].status.phase}')).toBe('Running'),
  );
  const first = await read('pods -l app=guarded', '{.items[0].metadata.name}');
  await run(`exec ${first} -- touch /tmp/ready`);
  await until(async () => expect(await status('guarded')).toBe('1/1/1 0 InsufficientPods'));
  const node = await read(`pod/${first}`, '{.spec.nodeName}');
  await run('delete pod lone --now');
  const drain = fixture.kubectl.spawn(['drain', node, '--timeout=120s', '--ignore-daemonsets']);
  try {
    const ended = new Promise((resolve) => drain.once('close', resolve));
    await transcript(drain).until(
      `error when evicting pods/"${first}" -n "default" (will retry after 5s): ${violated}`,
    );
    expect(await read(`node/${node}`, '{.spec.unschedulable}')).toBe('true');
    await run('scale deploy/guarded --replicas=2');
    const second = await until(async () => {
      const names = (await read('pods -l app=guarded', '{.items[*].metadata.name}')).split(' ');
      expect(names).toHaveLength(2);
      return names.find((name) => name !== first) ?? '';
    });
    await until(() => run(`exec ${second} -- touch /tmp/ready`));
    expect(await ended).toBe(0);
  } finally {
    drain.kill();
  }
  expect((await attempt(`get pod ${first}`)).stderr).toContain('not found');
  await run(`uncordon ${node}`);
});

it('says that it matches nothing, or what it cannot count', async () => {
  await apply(
    budget('nothing', { minAvailable: 1 }),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bare', labels: { app: 'bare' } },
      spec: podSpec('sleep 3600'),
    },
    budget('bare', { maxUnavailable: 1 }),
  );
  const events = (name: string) =>
    read(
      `events --field-selector involvedObject.name=${name}`,
      '{range .items[*]}{.reason}: {.message}{"\\n"}{end}',
    );
  await until(async () => {
    expect(await events('nothing')).toBe('NoPods: No matching pods found');
    expect(await events('bare')).toContain('UnmanagedPods: Pods selected by this PodDisruptionBudget');
  });
  expect(await status('nothing')).toBe('0/1/0 0 InsufficientPods');
  expect(
    (await attempt('apply -f -', JSON.stringify(budget('both', { minAvailable: 1, maxUnavailable: 1 }))))
      .stderr,
  ).toContain('minAvailable and maxUnavailable cannot be both set');
});

it('stays as it is where two budgets guard a Pod: neither is asked', async () => {
  await apply(workload('Deployment', 'twice', { replicas: 2 }), budget('twice', { maxUnavailable: 1 }), {
    ...budget('again', { maxUnavailable: 1 }),
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'twice' } } },
  });
  await finished('twice');
  const name = await read('pods -l app=twice', '{.items[0].metadata.name}');
  expect((await evict(name)).stderr).toContain(
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  );
});
