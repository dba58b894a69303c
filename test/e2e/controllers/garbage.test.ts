import { useCluster } from '../../harness/cluster-fixture';

/** Owners and what they own; namespaces and what is in them. */
const { run, attempt, apply, read, until } = useCluster([
  '--nodes=0',
  '--storage=memory',
  '--without=cluster-dns',
]);

interface Owned {
  owners?: readonly object[];
  finalizers?: readonly string[];
  namespace?: string;
}
const configMap = (name: string, { owners, finalizers, namespace = 'default' }: Owned = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, ownerReferences: owners, finalizers },
});
const uidOf = (resource: string) => read(resource, '{.metadata.uid}');
const ownedBy = async (name: string, own: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: await uidOf(`cm/${name}`) },
  ...own,
});
const isGone = async (resource: string) =>
  expect((await attempt(`get ${resource}`)).stderr).toContain('not found');
const release = (resource: string) =>
  run(['patch', ...resource.split(' '), '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);

it('C14: an owner that is deleted in the foreground waits for those that block it, and for no others', async () => {
  await apply(configMap('boss'));
  const blocking = await ownedBy('boss', { blockOwnerDeletion: true });
  await apply(
    configMap('kid1', { owners: [blocking], finalizers: ['depot.test/hold'] }),
    configMap('kid2', { owners: [await ownedBy('boss')] }),
  );
  await run('delete cm boss --cascade=foreground --wait=false');
  expect(await read('cm/boss', '{.metadata.finalizers}')).toBe('["foregroundDeletion"]');
  await until(async () => {
    await isGone('cm kid2');
    expect(await read('cm/kid1', '{.metadata.deletionTimestamp}')).not.toBe('');
  });
  expect(await read('cm/boss', '{.metadata.deletionTimestamp}')).not.toBe('');
  await release('cm kid1');
  await until(() => isGone('cm boss'));
});

it('a dependent with two owners stays until the last is gone, and forgets the first', async () => {
  await apply(configMap('one'), configMap('two'));
  await apply(configMap('shared', { owners: [await ownedBy('one'), await ownedBy('two')] }));
  await run('delete cm one');
  await until(async () => expect(await read('cm/shared', '{.metadata.ownerReferences[*].name}')).toBe('two'));
  await run('delete cm two');
  await until(() => isGone('cm shared'));
});

it('an owner of another namespace, or one that never was: goes, with a warning, and others stay', async () => {
  await run('create namespace elsewhere');
  await apply(configMap('stays'));
  await apply(configMap('stray', { namespace: 'elsewhere', owners: [await ownedBy('stays')] }));
  const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'no-such-uid' };
  await apply(configMap('orphan', { owners: [ghost] }));
  await apply(configMap('adopted', { owners: [await ownedBy('stays')] }));
  await until(async () => {
    await isGone('cm orphan');
    await isGone('cm stray -n elsewhere');
  });
  const message = '{.items[?(@.reason=="OwnerRefInvalidNamespace")].message}';
  await until(async () =>
    expect(await read('events -n elsewhere', message)).toBe(
      `ownerRef [v1/ConfigMap, namespace: elsewhere, name: stays, uid: ${await uidOf('cm/stays')}] does not exist in namespace "elsewhere"`,
    ),
  );
  expect(await read('cm/adopted', '{.metadata.name}')).toBe('adopted');
});

it('a cluster-scoped object that names an owner of a namespace: stays, with a warning', async () => {
  await apply({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] },
    metadata: { name: 'misled', ownerReferences: [await ownedBy('stays')] },
  });
  const message = '{.items[?(@.involvedObject.name=="misled")].message}';
  await until(async () =>
    expect(await read('events', message)).toBe(
      `ownerRef [v1/ConfigMap, namespace: , name: stays, uid: ${await uidOf('cm/stays')}] does not exist in namespace ""`,
    ),
  );
  expect(await read('clusterrole/misled', '{.metadata.name}')).toBe('misled');
});

it('an owner that is referred to by a version that is not the preferred one: owns all the same', async () => {
  await run('create deployment scaled --image=nginx');
  await run('autoscale deployment scaled --max=2 --cpu=50%');
  const owner = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', name: 'scaled' };
  await apply(configMap('by-version', { owners: [{ ...owner, uid: await uidOf('hpa/scaled') }] }));
  await run('delete hpa scaled');
  await until(() => isGone('cm by-version'));
});

it('custom resources: own, and are owned, from the moment that they are defined', async () => {
  await apply({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'kettles.depot.test' },
    spec: {
      group: 'depot.test',
      scope: 'Namespaced',
      names: { plural: 'kettles', singular: 'kettle', kind: 'Kettle' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  });
  await run('wait --for=condition=Established crd/kettles.depot.test');
  const kettle = { apiVersion: 'depot.test/v1', kind: 'Kettle', metadata: { name: 'pot' } };
  await until(() => apply(kettle));
  const owner = { apiVersion: 'depot.test/v1', kind: 'Kettle', name: 'pot', uid: await uidOf('kettle/pot') };
  await apply(configMap('lid', { owners: [owner] }));
  const spout = { ...kettle, metadata: { name: 'spout', ownerReferences: [owner] } };
  await apply(spout);
  await run('delete kettle pot');
  await until(async () => {
    await isGone('cm lid');
    await isGone('kettle spout');
  });
});

it('a namespace says what is left in it and which finalizers hold it, then goes', async () => {
  await run('create namespace going');
  await apply(
    configMap('held', { namespace: 'going', finalizers: ['depot.test/hold'] }),
    configMap('free', { namespace: 'going' }),
  );
  await run('delete namespace going --wait=false');
  const conditions = '{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\\n"}{end}';
  await until(async () =>
    expect((await read('ns/going', conditions)).split('\n').sort()).toEqual([
      'NamespaceContentRemaining=True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
      'NamespaceDeletionContentFailure=False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      'NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered: All resources successfully discovered',
      'NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions: All legacy kube types successfully parsed',
      'NamespaceFinalizersRemaining=True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: depot.test/hold in 1 resource instances',
    ]),
  );
  await isGone('cm free -n going');
  const refused = await attempt('create cm late -n going');
  expect(refused.stderr).toContain(
    'unable to create new content in namespace going because it is being terminated',
  );
  await release('cm held -n going');
  await run('wait --for=delete namespace/going --timeout=120s');
});

it('a namespace stays while an API does not answer that may have something in it', async () => {
  await apply({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.silent.test' },
    spec: {
      ...{ group: 'silent.test', version: 'v1', groupPriorityMinimum: 100, versionPriority: 1 },
      insecureSkipTLSVerify: true,
      service: { name: 'nobody', namespace: 'default' },
    },
  });
  await run('create namespace doubtful');
  await run('delete namespace doubtful --wait=false');
  const message = '{.status.conditions[?(@.type=="NamespaceDeletionDiscoveryFailure")].message}';
  await until(async () =>
    expect(await read('ns/doubtful', message)).toBe(
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: silent.test/v1: stale GroupVersion discovery: silent.test/v1',
    ),
  );
  await run('delete apiservice v1.silent.test');
  await run('wait --for=delete namespace/doubtful --timeout=120s');
});
