import {
  Events,
  Pods,
  ResourceClaims,
  ResourceClaimTemplates,
  type Pod,
  type ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestManager, type TestManager } from '../../testing/test-manager';

const namespace = 'default';
const finalizer = 'resource.kubernetes.io/delete-protection';

describe('resource claims', () => {
  let manager: TestManager;
  beforeAll(async () => {
    manager = await startTestManager({
      args: ['--controllers=resourceclaim-controller,garbage-collector-controller'],
      serverFlags: ['--disable-admission-plugins=ServiceAccount'],
    });
  });
  afterAll(() => manager.stop());

  const claims = () => manager.client.for(ResourceClaims);
  const pods = () => manager.client.for(Pods);
  const claimNamed = (name: string) => claims().get(name, { namespace });
  const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] };
  const createTemplate = (name: string) =>
    manager.client.for(ResourceClaimTemplates).create(
      {
        metadata: { name },
        spec: { metadata: { labels: { team: 'ml' }, annotations: { note: 'x' } }, spec: { devices } },
      },
      { namespace },
    );
  const createPod = (name: string, claim: object): Promise<Pod> =>
    pods().create(
      {
        metadata: { name },
        spec: {
          containers: [{ name: 'main', image: 'nginx' }],
          resourceClaims: [{ name: 'gpu', ...claim }],
        },
      } as Pod,
      { namespace },
    );
  const claimOf = (name: string): Promise<string> =>
    eventually(async () => {
      const [status] = (await pods().get(name, { namespace })).status?.resourceClaimStatuses ?? [];
      expect(status?.name).toBe('gpu');
      return status?.resourceClaimName ?? '';
    });
  /** What the scheduler does. */
  const allocate = async (name: string, pod: Pod): Promise<void> => {
    const claim = await claimNamed(name);
    const metadata = { ...claim.metadata, finalizers: [finalizer] };
    const results = [{ request: 'gpu', driver: 'd', pool: 'p', device: 'x' }];
    const reservedFor = [{ resource: 'pods', name: pod.metadata.name, uid: pod.metadata.uid ?? '' }];
    const updated = await claims().update({ ...claim, metadata });
    await claims().updateStatus({
      ...updated,
      status: { allocation: { devices: { results } }, reservedFor },
    });
  };
  const isGone = (name: string) =>
    eventually(async () => {
      const error: unknown = await claimNamed(name).catch((reason: unknown) => reason);
      expect(isNotFound(error)).toBe(true);
    });
  const finish = async (pod: Pod) => {
    const fresh = await pods().get(pod.metadata.name, { namespace });
    await pods().updateStatus({ ...fresh, status: { ...fresh.status, phase: 'Succeeded' } });
  };

  it('are made by template for each Pod, which owns them and says what they are called', async () => {
    await createTemplate('gpu');
    const pod = await createPod('web', { resourceClaimTemplateName: 'gpu' });
    const name = await claimOf('web');
    expect(name).toMatch(/^web-gpu-[a-z0-9]{5}$/);
    expect(await claimNamed(name)).toMatchObject({
      metadata: {
        labels: { team: 'ml' },
        annotations: { note: 'x', 'resource.kubernetes.io/pod-claim-name': 'gpu' },
        ownerReferences: [{ kind: 'Pod', name: 'web', uid: pod.metadata.uid, controller: true }],
      },
      spec: { devices: { requests: [{ name: 'gpu' }] } },
    });
    // Deleted by mistake: the Pod gets another one.
    await claims().delete(name, { namespace });
    await eventually(async () => expect(await claimOf('web')).not.toBe(name));
  });

  it('are given up with all they have when their Pod is done', async () => {
    await createTemplate('done');
    const pod = await createPod('batch', { resourceClaimTemplateName: 'done' });
    const name = await claimOf('batch');
    await allocate(name, pod);
    await finish(pod);
    await isGone(name);
  });

  it('go with their Pod', async () => {
    await createTemplate('going');
    const pod = await createPod('short', { resourceClaimTemplateName: 'going' });
    const name = await claimOf('short');
    await allocate(name, pod);
    await pods().delete('short', { namespace, gracePeriodSeconds: 0 });
    await isGone(name);
  });

  it('of their own lose the allocation, and nothing else, when the last Pod that used them is gone', async () => {
    await claims().create({ metadata: { name: 'shared' }, spec: { devices } } as ResourceClaim, {
      namespace,
    });
    const pod = await createPod('user', { resourceClaimName: 'shared' });
    await allocate('shared', pod);
    await pods().delete('user', { namespace, gracePeriodSeconds: 0 });
    await eventually(async () => {
      const { status, metadata } = await claimNamed('shared');
      expect(status?.allocation).toBeUndefined();
      expect(status?.reservedFor ?? []).toEqual([]);
      expect(metadata.finalizers ?? []).toEqual([]);
    });
  });

  it('wait for a template that is not there yet, and the Pod’s events say so', async () => {
    await createPod('early', { resourceClaimTemplateName: 'late' });
    await eventually(async () => {
      const { items } = await manager.client.for(Events).list({ namespace });
      expect(items.map(({ reason, message }) => `${reason ?? ''}: ${message ?? ''}`)).toContain(
        'FailedResourceClaimCreation: PodResourceClaim gpu: resource claim template "late": ' +
          'resourceclaimtemplate.resource.k8s.io "late" not found',
      );
    });
    await createTemplate('late');
    expect(await claimOf('early')).toMatch(/^early-gpu-/);
  });
});
