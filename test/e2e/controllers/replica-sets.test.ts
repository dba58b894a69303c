import { useCluster } from '../../harness/cluster-fixture';
import { brokenImage, podSpec, workload } from '../../harness/workloads';

const { run, apply, read, until } = useCluster([
  '--nodes=2',
  '--storage=memory',
  '--without=kube-proxy,cluster-dns',
]);
const owner = '{.metadata.ownerReferences[?(@.controller==true)].kind}/{.metadata.ownerReferences[0].name}';
const names = async (app: string) =>
  (await read(`pods -l app=${app}`, '{.items[*].metadata.name}')).split(' ').filter((name) => name !== '');
const status = (name: string) =>
  read(`rs/${name}`, '{.status.replicas}/{.status.readyReplicas}/{.status.availableReplicas}');
const controller = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { app: name },
    template: { metadata: { labels: { app: name } }, spec: podSpec('sleep 3600') },
    ...spec,
  },
});
const pod = (name: string, labels: object, spec: object = podSpec('sleep 3600')) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec,
});

it('a ReplicaSet takes in Pods that nobody controls, and removes those that are too many', async () => {
  await apply(pod('stray-a', { app: 'rs' }), pod('stray-b', { app: 'rs' }), pod('stray-c', { app: 'rs' }));
  await run('wait --for=condition=Ready pod/stray-a pod/stray-b pod/stray-c --timeout=120s');
  await apply(workload('ReplicaSet', 'rs', { replicas: 2 }));
  await until(async () => expect(await names('rs')).toHaveLength(2));
  for (const name of await names('rs')) {
    expect(name).toMatch(/^stray-/);
    expect(await read(`pod/${name}`, owner)).toBe('ReplicaSet/rs');
  }
  expect(await read('events --field-selector reason=SuccessfulDelete', '{.items[*].message}')).toMatch(
    /Deleted pod: stray-/,
  );
});

it('a ReplicaSet lets a Pod go whose labels no longer match, and makes another', async () => {
  await apply(workload('ReplicaSet', 'loose', { replicas: 1 }));
  await until(async () => expect(await status('loose')).toBe('1/1/1'));
  const [first = ''] = await names('loose');
  await run(`label pod ${first} --overwrite app=debug`);
  await until(async () => {
    expect(await status('loose')).toBe('1/1/1');
    expect(await names('loose')).not.toContain(first);
    expect(await read(`pod/${first}`, '{.metadata.ownerReferences}')).toBe('');
  });
});

it('a ReplicaSet takes no Pod that has ended, and replaces what fails', async () => {
  const ended = podSpec('exit 1', { restartPolicy: 'Never' });
  await apply(pod('over', { app: 'alive' }, ended));
  await until(async () => expect(await read('pod/over', '{.status.phase}')).toBe('Failed'));
  await apply(workload('ReplicaSet', 'alive', { replicas: 1 }));
  await until(async () => expect(await status('alive')).toBe('1/1/1'));
  expect(await read('pod/over', '{.metadata.ownerReferences}')).toBe('');
});

it('a ReplicaSet removes first what is not ready, then what costs least', async () => {
  const cost = (value: number) => `controller.kubernetes.io/pod-deletion-cost=${value}`;
  await apply(workload('ReplicaSet', 'costs', { replicas: 2 }));
  await until(async () => expect(await status('costs')).toBe('2/2/2'));
  const [cheap = '', dear = ''] = await names('costs');
  await run(`annotate pod ${cheap} ${cost(-5)}`);
  await run(`set image rs/costs main=${brokenImage}`);
  await run('scale rs/costs --replicas=3');
  await until(async () => expect(await names('costs')).toHaveLength(3));
  await run('scale rs/costs --replicas=2');
  await until(async () => expect((await names('costs')).sort()).toEqual([cheap, dear].sort()));
  await run('scale rs/costs --replicas=1');
  await until(async () => expect(await names('costs')).toEqual([dear]));
});

it('a ReplicaSet whose Pods a quota refuses says so, until it is no longer refused', async () => {
  await run('create namespace tight');
  await run('-n tight create quota few --hard=pods=1');
  await until(async () => expect(await read('-n tight quota/few', '{.status.hard.pods}')).toBe('1'));
  await run('apply -n tight -f -', JSON.stringify(workload('ReplicaSet', 'many', { replicas: 2 })));
  const failure = '{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{end}';
  await until(async () =>
    expect(await read('-n tight rs/many', failure)).toMatch(
      /^ReplicaFailure=True FailedCreate: pods "many-\w{5}" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1$/,
    ),
  );
  await until(async () =>
    expect(await read('-n tight events --field-selector reason=FailedCreate', '{.items[0].message}')).toMatch(
      /^Error creating: pods "many-\w{5}" is forbidden: exceeded quota: few/,
    ),
  );
  await run('-n tight delete quota few');
  // A change is looked at at once, whatever the back-off.
  await run('-n tight annotate rs many retry=now');
  await until(async () => {
    expect(await read('-n tight rs/many', '{.status.replicas}')).toBe('2');
    expect(await read('-n tight rs/many', failure)).toBe('');
  });
});

it('a ReplicationController does the same by a selector that is a map', async () => {
  await apply(pod('given', { app: 'rc' }), controller('rc'));
  await until(async () => expect(await read('rc/rc', '{.status.readyReplicas}')).toBe('2'));
  expect(await read('pod/given', owner)).toBe('ReplicationController/rc');
  await run('label pod given --overwrite app=debug');
  await until(async () => {
    expect(await read('pod/given', '{.metadata.ownerReferences}')).toBe('');
    expect(await read('rc/rc', '{.status.readyReplicas}')).toBe('2');
  });
  await run('scale rc/rc --replicas=0');
  await until(async () => expect(await names('rc')).toEqual([]));
});
