import { useCluster } from '../../harness/cluster-fixture';

/** Each controller as kubectl shows its work, on one cluster. */
const { run, attempt, apply, read, until } = useCluster();
const pod = (command: string, restartPolicy = 'Always') => ({
  restartPolicy,
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', command] }],
});
const workload = (kind: string, name: string, spec: object) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: pod('sleep 3600') },
    ...spec,
  },
});

it('DaemonSet: one Pod on each node, updated node by node', async () => {
  await apply(workload('DaemonSet', 'agent', {}));
  await run('rollout status ds/agent --timeout=120s');
  const nodes = (await read('pods -l app=agent', '{.items[*].spec.nodeName}')).split(' ');
  expect(nodes.sort()).toEqual(['node-1', 'node-2', 'node-3']);
  await run('set env ds/agent VERSION=2');
  await run('rollout status ds/agent --timeout=120s');
  expect(await read('controllerrevisions -l app=agent', '{.items[*].revision}')).toMatch(/^(1 2|2 1)$/);
});

it('StatefulSet: in order, with stable names, down from the last', async () => {
  await apply(workload('StatefulSet', 'db', { serviceName: 'db', replicas: 3 }));
  await run('rollout status sts/db --timeout=120s');
  const started = (
    await read('pods -l app=db --sort-by=.metadata.creationTimestamp', '{.items[*].metadata.name}')
  ).split(' ');
  expect(started).toEqual(['db-0', 'db-1', 'db-2']);
  await run('scale sts/db --replicas=1');
  await until(async () => expect(await read('pods -l app=db', '{.items[*].metadata.name}')).toBe('db-0'));
});

it('ReplicationController: keeps its Pods', async () => {
  await apply({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'rc' },
    spec: {
      replicas: 2,
      selector: { app: 'rc' },
      template: { metadata: { labels: { app: 'rc' } }, spec: pod('sleep 3600') },
    },
  });
  await until(async () => expect(await read('rc/rc', '{.status.readyReplicas}')).toBe('2'));
  await run('delete rc rc');
  await until(async () => expect(await read('pods -l app=rc', '{.items[*].metadata.name}')).toBe(''));
});

it('Job: completes, by index too, fails when it fails too often, and goes after its time', async () => {
  const job = (name: string, spec: object) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec,
  });
  const template = (command: string) => ({ template: { spec: pod(command, 'Never') } });
  await apply(
    job('indexed', {
      completions: 3,
      parallelism: 3,
      completionMode: 'Indexed',
      ...template('echo $JOB_COMPLETION_INDEX'),
    }),
    job('fails', { backoffLimit: 0, ...template('exit 3') }),
    job('brief', { ttlSecondsAfterFinished: 1, ...template('true') }),
  );
  await run('wait --for=condition=complete job/indexed --timeout=120s');
  expect(await read('job/indexed', '{.status.completedIndexes}')).toBe('0-2');
  await run('wait --for=condition=failed job/fails --timeout=120s');
  expect(await read('job/fails', '{.status.conditions[?(@.type=="Failed")].reason}')).toBe(
    'BackoffLimitExceeded',
  );
  await until(async () => expect((await attempt('get job brief')).stderr).toContain('not found'));
});

it('CronJob: makes a Job when it is due, and one by hand', async () => {
  const every = {
    schedule: '@every 1s',
    jobTemplate: { spec: { template: { spec: pod('true', 'Never') } } },
  };
  await apply({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'often' }, spec: every });
  await until(async () => expect(await read('cronjob/often', '{.status.lastSuccessfulTime}')).not.toBe(''));
  await run('delete cronjob often');
  await run(['create', 'cronjob', 'yearly', '--image=busybox', '--schedule=0 0 1 1 *', '--', 'true']);
  await run('create job now --from=cronjob/yearly');
  await run('wait --for=condition=complete job/now --timeout=120s');
  expect(await read('job/now', '{.metadata.ownerReferences[0].kind}')).toBe('CronJob');
});

it('Endpoints and EndpointSlices: follow the Pods of a Service, and those that a user writes', async () => {
  const spec = { selector: { app: 'db' }, ports: [{ port: 80 }] };
  await apply({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'front' }, spec });
  await until(async () => {
    const ip = await read('pod/db-0', '{.status.podIP}');
    expect(await read('endpoints/front', '{.subsets[*].addresses[*].ip}')).toBe(ip);
    const slices = 'endpointslices -l kubernetes.io/service-name=front';
    expect(await read(slices, '{.items[*].endpoints[*].addresses[*]}')).toBe(ip);
  });
  await apply(
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'outside' }, spec: { ports: [{ port: 80 }] } },
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'outside' },
      subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }],
    },
  );
  await until(async () => {
    const slices = 'endpointslices -l kubernetes.io/service-name=outside';
    expect(await read(slices, '{.items[*].endpoints[*].addresses[*]}')).toBe('192.0.2.7');
  });
});

it('garbage collector: in the background, leaving orphans, and in the foreground', async () => {
  await run('create deployment family --image=nginx --replicas=2');
  await run('rollout status deploy/family --timeout=120s');
  await run('delete deploy family --cascade=orphan');
  const orphan = await read('rs -l app=family', '{.items[*].metadata.name}');
  expect(orphan).toMatch(/^family-/);
  await until(async () =>
    expect(await read('rs -l app=family', '{.items[*].metadata.ownerReferences}')).toBe(''),
  );
  await run(`delete rs ${orphan} --cascade=foreground`);
  expect(await read('pods -l app=family', '{.items[*].metadata.name}')).toBe('');
});

it('Namespace: gets its account and CA, and goes with all that is in it', async () => {
  await run('create namespace fresh');
  await until(async () => {
    expect(await read('-n fresh sa', '{.items[*].metadata.name}')).toBe('default');
    expect(await read('-n fresh cm', '{.items[*].metadata.name}')).toBe('kube-root-ca.crt');
  });
  await run('-n fresh create deployment web --image=nginx --replicas=2');
  await run('-n fresh rollout status deploy/web --timeout=120s');
  await run('delete namespace fresh --timeout=120s');
  expect((await attempt('get ns fresh')).stderr).toContain('not found');
});

it('ServiceAccount tokens: in a Secret that asks for one', async () => {
  await run('create sa robot');
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
  });
  const token = await until(async () => {
    const data = await read('secret/robot-token', '{.data.token}');
    expect(data).not.toBe('');
    return Buffer.from(data, 'base64').toString();
  });
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const who = await run('create -f - -o jsonpath={.status.user.username}', JSON.stringify(review));
  expect(who).toBe('system:serviceaccount:default:robot');
  await run('delete sa robot');
  await until(async () => expect((await attempt('get secret robot-token')).stderr).toContain('not found'));
});

it('quota and budget: count, and limit', async () => {
  await run('create quota cap --hard=count/configmaps=100,pods=50');
  await until(async () =>
    expect(Number(await read('quota/cap', '{.status.used.count/configmaps}'))).toBeGreaterThan(0),
  );
  await run('create pdb keep --selector=app=agent --min-available=2');
  await until(async () => {
    expect(await read('pdb/keep', '{.status.expectedPods}')).toBe('3');
    expect(await read('pdb/keep', '{.status.disruptionsAllowed}')).toBe('1');
  });
  await run('delete quota cap');
});

it('ClusterRole: aggregates', async () => {
  await apply(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'sum' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'sum' } }] },
      rules: [],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'part', labels: { part: 'sum' } },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    },
  );
  await until(async () => expect(await read('clusterrole/sum', '{.rules[*].resources[*]}')).toBe('pods'));
});

it('nodes: have ranges of addresses and a TTL, and a NoExecute taint moves Pods away', async () => {
  const ranges = (await read('nodes', '{.items[*].spec.podCIDR}')).split(' ');
  expect(new Set(ranges).size).toBe(3);
  const ttl = String.raw`{.items[*].metadata.annotations.node\.alpha\.kubernetes\.io/ttl}`;
  await until(async () => expect(await read('nodes', ttl)).toBe('0 0 0'));
  await run('create deployment mobile --image=nginx --replicas=3');
  await run('rollout status deploy/mobile --timeout=120s');
  await run('taint nodes node-2 away=now:NoExecute');
  await until(async () => {
    const places = (await read('pods -l app=mobile', '{.items[*].spec.nodeName}')).split(' ');
    expect(places).not.toContain('node-2');
    expect(await read('deploy/mobile', '{.status.availableReplicas}')).toBe('3');
  });
  await until(async () =>
    expect(await read('events --field-selector reason=TaintManagerEviction', '{.items[0].reason}')).toBe(
      'TaintManagerEviction',
    ),
  );
  await run('taint nodes node-2 away-');
});

it('service addresses: are ready to be given out', async () => {
  const path = '{.status.conditions[0].type}={.status.conditions[0].status}';
  await until(async () => expect(await read('servicecidrs/kubernetes', path)).toBe('Ready=True'));
});
