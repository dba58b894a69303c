import {
  CertificateSigningRequests,
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  Deployments,
  Jobs,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  ResourceQuotas,
  RoleBindings,
  type CertificateSigningRequest,
} from '@tinkernetes/api';
import { isNotFound, isPodTerminal } from '@tinkernetes/apimachinery';
import { createClient } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { createCertificateSigningRequest } from '@tinkernetes/pki';
import { controllers } from './manager/controllers';
import { fastTime, ScaledClock } from './testing/scaled-clock';
import { podActor, startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
const clock = new ScaledClock();
let manager: TestManager;
let actor: ReturnType<typeof podActor>;

beforeAll(async () => {
  manager = await startTestManager({ clock });
  actor = podActor(manager.client, namespace);
});
afterAll(async () => {
  await clock.slowDown();
  await manager.stop();
  await clock.stop();
});

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'nginx' }] },
});
const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);

it('counts what is used of a quota, and gives back what was deleted', async () => {
  const quotas = manager.client.for(ResourceQuotas);
  await quotas.create(
    { metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '10', 'requests.cpu': '2', pods: '5' } } },
    { namespace },
  );
  const used = async () => (await quotas.get('q', { namespace })).status?.used;
  const before = await eventually(async () => {
    const first = await used();
    expect(first).toMatchObject({ pods: '0', 'requests.cpu': '0' });
    return Number(first?.['count/configmaps']);
  });
  await manager.client.for(ConfigMaps).create({ metadata: { name: 'counted' } }, { namespace });
  const pod = {
    metadata: { name: 'heavy' },
    spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '500m' } } }] },
  };
  const created = await manager.client.for(Pods).create(pod, { namespace });
  await eventually(async () =>
    expect(await used()).toEqual({
      pods: '1',
      'requests.cpu': '500m',
      'count/configmaps': String(before + 1),
    }),
  );
  await actor.finish(created, 0);
  await eventually(async () => expect(await used()).toMatchObject({ pods: '0', 'requests.cpu': '0' }));
  await manager.client.for(ConfigMaps).delete('counted', { namespace });
  await eventually(async () => expect(await used()).toMatchObject({ 'count/configmaps': String(before) }));
  await quotas.delete('q', { namespace });
});

it('C19 lets a ReplicaSet have no more Pods than a quota allows, however fast it makes them', async () => {
  const quotas = manager.client.for(ResourceQuotas);
  const running = (await actor.list('')).filter((pod) => !isPodTerminal(pod));
  const hard = { pods: String(running.length + 1) };
  await quotas.create({ metadata: { name: 'tight' }, spec: { hard } }, { namespace });
  await eventually(async () => expect((await quotas.get('tight', { namespace })).status?.hard).toEqual(hard));
  const spec = { replicas: 20, selector: { matchLabels: { app: 'many' } }, template: template('many') };
  await manager.client.for(ReplicaSets).create({ metadata: { name: 'many' }, spec }, { namespace });
  await eventually(async () => {
    const { status } = await manager.client.for(ReplicaSets).get('many', { namespace });
    expect(status?.conditions).toMatchObject([{ type: 'ReplicaFailure', reason: 'FailedCreate' }]);
    expect(status?.replicas).toBe(1);
  });
  expect(await actor.list('app=many')).toHaveLength(1);
  await manager.client.for(ReplicaSets).delete('many', { namespace, propagationPolicy: 'Background' });
  await quotas.delete('tight', { namespace });
});

it('writes to a budget how many Pods may be evicted, and lets evictions go no further', async () => {
  await manager.client.for(Deployments).create(
    {
      metadata: { name: 'guarded' },
      spec: { replicas: 3, selector: { matchLabels: { app: 'guarded' } }, template: template('guarded') },
    },
    { namespace },
  );
  await manager.client.for(PodDisruptionBudgets).create(
    {
      metadata: { name: 'guarded' },
      spec: { maxUnavailable: '34%', selector: { matchLabels: { app: 'guarded' } } },
    },
    { namespace },
  );
  const pods = await eventually(async () => {
    const list = await actor.list('app=guarded');
    expect(list).toHaveLength(3);
    return list;
  });
  const status = async () =>
    (await manager.client.for(PodDisruptionBudgets).get('guarded', { namespace })).status;
  await eventually(async () =>
    expect(await status()).toMatchObject({
      expectedPods: 3,
      desiredHealthy: 1,
      currentHealthy: 0,
      disruptionsAllowed: 0,
    }),
  );
  await Promise.all(pods.map((pod) => actor.makeReady(pod)));
  await eventually(async () => {
    expect(await status()).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 2, observedGeneration: 1 });
    expect((await status())?.conditions?.[0]).toMatchObject({
      type: 'DisruptionAllowed',
      status: 'True',
      reason: 'SufficientPods',
    });
  });
  const evict = (name = '') =>
    manager.client
      .for(Pods)
      .subresource(
        'POST',
        name,
        'eviction',
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
        { namespace },
      );
  await evict(pods[0]?.metadata.name);
  await evict(pods[1]?.metadata.name);
  await expect(evict(pods[2]?.metadata.name)).rejects.toMatchObject({ code: 429 });
});

it('does not count a percentage of Pods that nothing scales', async () => {
  await manager.client
    .for(Pods)
    .create({ metadata: { name: 'lone', labels: { app: 'lone' } }, spec: template('x').spec }, { namespace });
  await manager.client.for(PodDisruptionBudgets).create(
    {
      metadata: { name: 'lone' },
      spec: { minAvailable: '50%', selector: { matchLabels: { app: 'lone' } } },
    },
    { namespace },
  );
  await eventually(async () => {
    const { status } = await manager.client.for(PodDisruptionBudgets).get('lone', { namespace });
    expect(status?.disruptionsAllowed).toBe(0);
    expect(status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'InsufficientPods' });
  });
});

it('fills an aggregating ClusterRole from the roles that it selects, and follows them', async () => {
  const roles = manager.client.for(ClusterRoles);
  const rule = (resource: string) => ({ apiGroups: ['depot.test'], resources: [resource], verbs: ['get'] });
  await roles.create({
    metadata: { name: 'all-depots' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'depot.test/aggregate': 'true' } }] },
    rules: [],
  });
  for (const name of ['crates', 'bins'])
    await roles.create({
      metadata: { name, labels: { 'depot.test/aggregate': 'true' } },
      rules: [rule(name), rule('shared')],
    });
  const rules = async () => (await roles.get('all-depots')).rules;
  await eventually(async () => expect(await rules()).toEqual([rule('bins'), rule('shared'), rule('crates')]));
  await roles.delete('bins');
  await eventually(async () => expect(await rules()).toEqual([rule('crates'), rule('shared')]));
});

describe('CertificateSigningRequest', () => {
  const request = async (
    name: string,
    commonName: string,
    organizations: string[],
  ): Promise<CertificateSigningRequest> => {
    const { request: pem } = await createCertificateSigningRequest({ commonName, organizations });
    return {
      metadata: { name },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    };
  };
  const get = (name: string) => manager.client.for(CertificateSigningRequests).get(name);

  it("approves and signs a node's own request, with a certificate that the server accepts", async () => {
    const csr = await request('node-1', 'system:node:n1', ['system:nodes']);
    const bootstrap = createClient(await manager.server.configFor('system:node:n1', 'system:masters'));
    await bootstrap.for(CertificateSigningRequests).create(csr);
    bootstrap.close();
    const signed = await eventually(async () => {
      const found = await get('node-1');
      expect(found.status?.certificate).toBeDefined();
      return found;
    });
    expect(signed.status?.conditions).toEqual([
      expect.objectContaining({
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
      }),
    ]);
    expect(Buffer.from(signed.status?.certificate ?? '', 'base64').toString()).toContain('BEGIN CERTIFICATE');
  });

  it('fails an approved request that is not what its signer signs', async () => {
    const requests = manager.client.for(CertificateSigningRequests);
    const csr = await request('odd', 'somebody', ['system:nodes']);
    const created = await requests.create(csr);
    const now = new Date().toISOString();
    await requests.subresource('PUT', 'odd', 'approval', {
      ...created,
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test', lastUpdateTime: now }] },
    });
    await eventually(async () =>
      expect((await get('odd')).status?.conditions?.[1]).toMatchObject({
        type: 'Failed',
        reason: 'SignerValidationFailure',
        message: 'subject common name does not begin with system:node:',
      }),
    );
    expect((await get('odd')).status?.certificate).toBeUndefined();
  });

  it('deletes an answered request after an hour, and one that waits after a day', async () => {
    await manager.client
      .for(CertificateSigningRequests)
      .create(await request('waiting', 'somebody', ['nobody']));
    clock.speed = 10_000;
    await eventually(() => isGone(get('node-1')), fastTime);
    await clock.slowDown();
    expect((await get('waiting')).metadata.name).toBe('waiting');
    clock.speed = 100_000;
    await eventually(() => isGone(get('waiting')), fastTime);
    await clock.slowDown();
  });
});

it('deletes a finished Job when its time to live is over, with its Pods', async () => {
  const jobs = manager.client.for(Jobs);
  const spec = { ...template('brief'), spec: { ...template('brief').spec, restartPolicy: 'Never' as const } };
  await jobs.create(
    { metadata: { name: 'brief' }, spec: { ttlSecondsAfterFinished: 100, template: spec } },
    { namespace },
  );
  const [pod] = await eventually(async () => {
    const list = await actor.list('job-name=brief');
    expect(list).toHaveLength(1);
    return list;
  });
  if (pod) await actor.finish(pod, 0);
  await eventually(async () =>
    expect((await jobs.get('brief', { namespace })).status?.conditions?.map((c) => c.type)).toContain(
      'Complete',
    ),
  );
  expect((await jobs.get('brief', { namespace })).metadata.deletionTimestamp).toBeUndefined();
  clock.speed = 100;
  await eventually(() => isGone(jobs.get('brief', { namespace })), fastTime);
  await clock.slowDown();
  expect(await actor.list('job-name=brief')).toEqual([]);
});

it('gives every controller an account that the server has rights for', async () => {
  const [cluster, own] = await Promise.all([
    manager.client.for(ClusterRoleBindings).list(),
    manager.client.for(RoleBindings).list(),
  ]);
  const known = new Set(
    [...cluster.items, ...own.items]
      .flatMap((binding) => binding.subjects ?? [])
      .filter((subject) => subject.kind === 'ServiceAccount' && subject.namespace === 'kube-system')
      .map((subject) => subject.name),
  );
  const without = controllers
    // The built-in CSI driver's rights are no part of upstream's bootstrap policy.
    .filter(({ name, start, actsAsManager }) => start && !actsAsManager && name !== 'hostpath-csi-controller')
    .map(({ name, serviceAccount }) => serviceAccount ?? name)
    .filter((account) => !known.has(account));
  expect(without).toEqual([]);
});
