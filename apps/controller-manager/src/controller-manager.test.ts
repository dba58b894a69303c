import { writeFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigMaps,
  Deployments,
  type Endpoints,
  EndpointSlices,
  EndpointsResource,
  Namespaces,
  Nodes,
  Pods,
  ReplicaSets,
  Secrets,
  ServiceAccounts,
  Services,
  type Pod,
} from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually, startComponent, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { component } from './index';

let server: TestApiServer;
let client: Client;
let manager: StartedComponent;
const directory = mkdtempSync(join(tmpdir(), 'tk-kcm-'));
const namespace = 'default';

beforeAll(async () => {
  server = await startApiServer();
  client = createClient(server.adminConfig);
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig);
  manager = await startComponent(component, [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--allocate-node-cidrs',
  ]);
});
afterAll(async () => {
  await manager?.stop();
  client?.close();
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const labels = { app: 'web' };
const container = { name: 'main', image: 'nginx', ports: [{ name: 'http', containerPort: 8080 }] };
const podsOf = async (selector = 'app=web') =>
  (await client.for(Pods).list({ namespace, labelSelector: selector })).items;

/** Does what a kubelet would: the Pod runs, has an address and is ready. */
async function makeReady(pod: Pod, ip: string): Promise<void> {
  const fresh = await client.for(Pods).get(pod.metadata.name, { namespace });
  const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
  await client.for(Pods).updateStatus(
    {
      ...fresh,
      status: {
        phase: 'Running',
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
      },
    },
    { namespace },
  );
}

it('brings a Deployment to its replicas, rolls a new template out and keeps the old ReplicaSet', async () => {
  await client.for(Deployments).create(
    {
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
    { namespace },
  );
  const pods = await eventually(async () => {
    const list = await podsOf();
    expect(list).toHaveLength(3);
    return list;
  });
  await Promise.all(pods.map((pod, i) => makeReady(pod, `10.244.0.${i + 2}`)));
  await eventually(async () => {
    const deployment = await client.for(Deployments).get('web', { namespace });
    expect(deployment.status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      updatedReplicas: 3,
    });
    expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
    expect(deployment.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual(
      expect.arrayContaining([
        ['Available', 'True', 'MinimumReplicasAvailable'],
        ['Progressing', 'True', 'NewReplicaSetAvailable'],
      ]),
    );
  });
  await client
    .for(Deployments)
    .patch(
      'web',
      { spec: { template: { spec: { containers: [{ name: 'main', image: 'nginx:1.27' }] } } } },
      { type: 'strategic', namespace },
    );
  let next = 10;
  await eventually(async () => {
    for (const pod of await podsOf()) if (!pod.status?.podIP) await makeReady(pod, `10.244.0.${next++}`);
    // Nothing stops the Pods here: their graceful deletion is finished for them.
    for (const pod of await podsOf()) {
      if (pod.metadata.deletionTimestamp)
        await client.for(Pods).delete(pod.metadata.name, { namespace, gracePeriodSeconds: 0 });
    }
    const deployment = await client.for(Deployments).get('web', { namespace });
    expect(deployment.status).toMatchObject({ updatedReplicas: 3, availableReplicas: 3, replicas: 3 });
    expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
    const sets = (await client.for(ReplicaSets).list({ namespace })).items;
    expect(
      sets
        .map((s) => [s.metadata.annotations?.['deployment.kubernetes.io/revision'], s.spec.replicas])
        .sort(),
    ).toEqual([
      ['1', 0],
      ['2', 3],
    ]);
  });
});

it('replaces a Pod that is deleted, and adopts one that matches', async () => {
  const [victim] = await podsOf();
  await client.for(Pods).delete(victim?.metadata.name ?? '', { namespace, gracePeriodSeconds: 0 });
  await eventually(async () => {
    const names = (await podsOf()).map((p) => p.metadata.name);
    expect(names).toHaveLength(3);
    expect(names).not.toContain(victim?.metadata.name);
  });
});

it('publishes ready Pods of a Service as EndpointSlice and Endpoints, by named port', async () => {
  await client.for(Services).create(
    {
      metadata: { name: 'web' },
      spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
    },
    { namespace },
  );
  await eventually(async () => {
    const { items } = await client
      .for(EndpointSlices)
      .list({ namespace, labelSelector: 'kubernetes.io/service-name=web' });
    expect(items).toHaveLength(1);
    expect(items[0]?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    expect(items[0]?.endpoints?.filter((e) => e.conditions?.ready).length).toBeGreaterThanOrEqual(2);
    const endpoints: Endpoints = await client.for(EndpointsResource).get('web', { namespace });
    expect(endpoints.subsets?.[0]?.addresses?.length).toBeGreaterThanOrEqual(2);
  });
});

it('gives each Namespace its ServiceAccount and root CA, and empties it when it is deleted', async () => {
  await client.for(Namespaces).create({ metadata: { name: 'fresh' }, spec: {} });
  await eventually(() => client.for(ServiceAccounts).get('default', { namespace: 'fresh' }));
  await client.for(Secrets).create({ metadata: { name: 'a' } }, { namespace: 'fresh' });
  await client.for(ConfigMaps).create({ metadata: { name: 'b' } }, { namespace: 'fresh' });
  await client.for(Namespaces).delete('fresh');
  await eventually(async () => {
    const error: unknown = await client
      .for(Namespaces)
      .get('fresh')
      .catch((e: unknown) => e);
    expect(isNotFound(error)).toBe(true);
  });
  expect((await client.for(Secrets).list({ namespace: 'fresh' })).items).toEqual([]);
});

it('gives each Node a range of Pod addresses', async () => {
  await Promise.all(['n1', 'n2'].map((name) => client.for(Nodes).create({ metadata: { name }, spec: {} })));
  await eventually(async () => {
    const ranges = (await client.for(Nodes).list()).items.map((n) => n.spec.podCIDR).sort();
    expect(ranges).toEqual(['10.244.0.0/24', '10.244.1.0/24']);
  });
});

it('C14 deletes dependents in the background, and before their owner in the foreground', async () => {
  const ownerReference = (owner: { metadata: { name: string; uid?: string } }, block: boolean) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    blockOwnerDeletion: block,
  });
  const boss = await client.for(Secrets).create({ metadata: { name: 'boss' } }, { namespace });
  await client.for(Secrets).create(
    {
      metadata: {
        name: 'kid1',
        finalizers: ['depot.test/hold'],
        ownerReferences: [ownerReference(boss, true)],
      },
    },
    { namespace },
  );
  await client
    .for(Secrets)
    .create({ metadata: { name: 'kid2', ownerReferences: [ownerReference(boss, false)] } }, { namespace });
  await client.for(Secrets).delete('boss', { namespace, propagationPolicy: 'Foreground' });
  const gone = (name: string) =>
    client
      .for(Secrets)
      .get(name, { namespace })
      .then(() => false, isNotFound);
  await eventually(() => gone('kid2'));
  await eventually(async () =>
    expect((await client.for(Secrets).get('kid1', { namespace })).metadata.deletionTimestamp).toBeDefined(),
  );
  expect((await client.for(Secrets).get('boss', { namespace })).metadata.finalizers).toEqual([
    'foregroundDeletion',
  ]);
  await client.for(Secrets).patch('kid1', { metadata: { finalizers: null } }, { type: 'merge', namespace });
  await eventually(() => gone('kid1'));
  await eventually(() => gone('boss'));
});

it('deletes a Deployment with all that it made', async () => {
  await client.for(Deployments).delete('web', { namespace, propagationPolicy: 'Background' });
  await eventually(async () => {
    expect((await client.for(ReplicaSets).list({ namespace })).items).toEqual([]);
    expect((await podsOf()).every((p) => p.metadata.deletionTimestamp)).toBe(true);
  });
});
