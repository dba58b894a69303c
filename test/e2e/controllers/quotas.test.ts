import { useCluster } from '../../harness/cluster-fixture';

/** Quotas: what counts, for which objects, and what is refused. */
const { run, attempt, apply, read, until } = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=cluster-dns,kube-proxy',
]);

const quota = (name: string, hard: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, namespace: name },
  spec: { hard, ...spec },
});
const pod = (name: string, namespace: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: {
    containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '100m', memory: '64Mi' } } }],
    terminationGracePeriodSeconds: 1,
    ...spec,
  },
});
const used = async (name: string): Promise<Record<string, string>> => {
  const text = await read(`quota/${name} -n ${name}`, '{.status.used}');
  return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
};
const untilUsed = (name: string, expected: Record<string, string>) =>
  until(async () => expect(await used(name)).toMatchObject(expected));
async function withQuota(name: string, hard: object, spec: object = {}): Promise<void> {
  await run(`create namespace ${name}`);
  await until(() => read(`sa/default -n ${name}`, '{.metadata.uid}'));
  await apply(quota(name, hard, spec));
  const zeros = Object.fromEntries(Object.keys(hard).map((key) => [key, expect.any(String) as string]));
  await untilUsed(name, zeros);
}

it('computes: requests and limits are summed, given back when a Pod has ended or is gone', async () => {
  await withQuota('computes', { 'requests.cpu': '1', 'requests.memory': '1Gi', pods: '3' });
  await apply(pod('a', 'computes'), pod('b', 'computes'));
  await untilUsed('computes', { 'requests.cpu': '200m', 'requests.memory': '128Mi', pods: '2' });
  const big = pod('big', 'computes', {
    containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '900m', memory: '1Mi' } } }],
  });
  expect((await attempt('create -f -', JSON.stringify(big))).stderr).toContain(
    'pods "big" is forbidden: exceeded quota: computes, requested: requests.cpu=900m, used: requests.cpu=200m, limited: requests.cpu=1',
  );
  expect((await attempt('run silent --image=nginx -n computes')).stderr).toContain(
    'failed quota: computes: must specify requests.cpu for: silent; requests.memory for: silent',
  );
  await apply(
    pod('ends', 'computes', {
      restartPolicy: 'Never',
      containers: [
        {
          ...{ name: 'main', image: 'busybox', command: ['true'] },
          resources: { requests: { cpu: '300m', memory: '1Mi' } },
        },
      ],
    }),
  );
  await run('wait pod/ends -n computes --for=jsonpath={.status.phase}=Succeeded --timeout=120s');
  await untilUsed('computes', { 'requests.cpu': '200m', pods: '2' });
  await run('delete pod a -n computes');
  await untilUsed('computes', { 'requests.cpu': '100m', pods: '1' });
  expect(await run('describe quota computes -n computes')).toMatch(/pods +1 +3\n/);
});

it('scopes: only Pods that they cover count', async () => {
  await withQuota('besteffort', { pods: '5' }, { scopes: ['BestEffort'] });
  await apply(
    pod('modest', 'besteffort'),
    pod('none', 'besteffort', { containers: [{ name: 'c', image: 'nginx' }] }),
  );
  await untilUsed('besteffort', { pods: '1' });
  await apply({
    ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 1000 },
    metadata: { name: 'urgent' },
  });
  await withQuota(
    'urgent',
    { pods: '1' },
    {
      scopeSelector: {
        matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['urgent'] }],
      },
    },
  );
  await apply(pod('calm', 'urgent'), pod('first', 'urgent', { priorityClassName: 'urgent' }));
  await untilUsed('urgent', { pods: '1' });
  const second = pod('second', 'urgent', { priorityClassName: 'urgent' });
  expect((await attempt('create -f -', JSON.stringify(second))).stderr).toContain('exceeded quota: urgent');
  await withQuota('terminating', { pods: '5' }, { scopes: ['Terminating'] });
  await apply(pod('forever', 'terminating'), pod('limited', 'terminating', { activeDeadlineSeconds: 600 }));
  await untilUsed('terminating', { pods: '1' });
});

it('scopes: claims by their attributes class', async () => {
  await apply({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass' },
    metadata: { name: 'gold' },
    driverName: 'hostpath.csi.tinkernetes.dev',
    parameters: { iops: '1000' },
  });
  const matchExpressions = [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] }];
  await withQuota('gold', { persistentvolumeclaims: '1' }, { scopeSelector: { matchExpressions } });
  const claim = (name: string, volumeAttributesClassName?: string) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'gold' },
    spec: {
      volumeAttributesClassName,
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    },
  });
  await apply(claim('plain'), claim('first', 'gold'));
  await untilUsed('gold', { persistentvolumeclaims: '1' });
  expect((await attempt('create -f -', JSON.stringify(claim('second', 'gold')))).stderr).toContain(
    'exceeded quota: gold, requested: persistentvolumeclaims=1',
  );
});

it('object counts: of built-in kinds by two names, of Services by their type, of claims by their class, of custom kinds', async () => {
  await apply({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'kettles.depot.test' },
    spec: {
      group: 'depot.test',
      scope: 'Namespaced',
      names: { plural: 'kettles', kind: 'Kettle' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  });
  await run('wait --for=condition=Established crd/kettles.depot.test');
  await withQuota('counts', {
    configmaps: '10',
    'count/secrets': '1',
    'count/deployments.apps': '3',
    'count/kettles.depot.test': '2',
    services: '5',
    'services.nodeports': '1',
    'services.loadbalancers': '0',
    persistentvolumeclaims: '5',
    'requests.storage': '10Gi',
    'standard.storageclass.storage.k8s.io/requests.storage': '2Gi',
  });
  await run('create secret generic one -n counts');
  await run('create deployment web --image=nginx --replicas=0 -n counts');
  await run('create service nodeport np --tcp=80 -n counts');
  const claim = (name: string, storage: string, storageClassName: string) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'counts' },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  });
  const kettle = (name: string) => ({
    apiVersion: 'depot.test/v1',
    kind: 'Kettle',
    metadata: { name, namespace: 'counts' },
  });
  await apply(claim('a', '1Gi', 'standard'), claim('b', '3Gi', 'other'), kettle('pot'));
  await untilUsed('counts', {
    configmaps: '1',
    'count/secrets': '1',
    'count/deployments.apps': '1',
    'count/kettles.depot.test': '1',
    services: '1',
    'services.nodeports': '1',
    'services.loadbalancers': '0',
    persistentvolumeclaims: '2',
    'requests.storage': '4Gi',
    'standard.storageclass.storage.k8s.io/requests.storage': '1Gi',
  });
  for (const [what, resource] of [
    ['create secret generic two', 'count/secrets=1'],
    ['create service nodeport more --tcp=80', 'services.nodeports=1'],
    ['create service loadbalancer lb --tcp=80', 'services.loadbalancers=1'],
  ])
    expect((await attempt(`${what} -n counts`)).stderr).toContain(`requested: ${resource}`);
  const wide = await attempt('create -f -', JSON.stringify(claim('c', '2Gi', 'standard')));
  expect(wide.stderr).toContain('requested: standard.storageclass.storage.k8s.io/requests.storage=2Gi');
  await run('delete kettle pot -n counts');
  await untilUsed('counts', { 'count/kettles.depot.test': '0' });
});

it('a quota that is lowered under what is used takes nothing away, and lets nothing in', async () => {
  await withQuota('lowered', { configmaps: '5' });
  await run('create configmap kept -n lowered');
  await apply(quota('lowered', { configmaps: '1' }));
  await until(async () => {
    expect(await read('quota/lowered -n lowered', '{.status.hard.configmaps}')).toBe('1');
    expect(await used('lowered')).toEqual({ configmaps: '2' });
  });
  expect((await attempt('create configmap more -n lowered')).stderr).toContain(
    'exceeded quota: lowered, requested: configmaps=1, used: configmaps=2, limited: configmaps=1',
  );
});

it('a quota that contradicts itself: is refused, or refuses', async () => {
  const contradictory = quota('default', { cpu: '1' }, { scopes: ['BestEffort', 'NotBestEffort'] });
  expect((await attempt('create -f -', JSON.stringify(contradictory))).stderr).toContain(
    'conflicting scopes',
  );
  const restricted = quota('default', { 'requests.cpu': '1' }, { scopes: ['BestEffort'] });
  expect((await attempt('create -f -', JSON.stringify(restricted))).stderr).toContain(
    'unsupported scope applied to resource',
  );
});
