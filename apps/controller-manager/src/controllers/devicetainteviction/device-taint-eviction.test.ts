import { Events, Pods, ResourceClaims, ResourceSlices, type DeviceTaint, type Pod } from '@tinkernetes/api';
import { findCondition, isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestManager, type TestManager } from '../../testing/test-manager';

const namespace = 'default';

describe('device taints', () => {
  let manager: TestManager;
  beforeAll(async () => {
    manager = await startTestManager({
      args: ['--controllers=device-taint-eviction-controller'],
      serverFlags: ['--disable-admission-plugins=ServiceAccount'],
    });
  });
  afterAll(() => manager?.stop());

  const pods = () => manager.client.for(Pods);
  const slices = () => manager.client.for(ResourceSlices);
  const taint = (taints: DeviceTaint[]) =>
    slices().patch('s', { spec: { devices: [{ name: 'x', taints }] } }, { type: 'merge' });
  const evict: DeviceTaint = { key: 'hot', effect: 'NoExecute' };
  const messages = async () => {
    const { items } = await manager.client.for(Events).list({ namespace });
    return items.filter((e) => e.reason === 'DeviceTaintManagerEviction').map((e) => e.message);
  };

  /** A Pod on a node, with device x allocated to it. */
  async function using(name: string, tolerationSeconds?: number): Promise<Pod> {
    const claims = manager.client.for(ResourceClaims);
    const claim = await claims.create({ metadata: { name }, spec: {} }, { namespace });
    const pod = await pods().create(
      {
        metadata: { name, finalizers: ['depot.test/seen'] },
        spec: {
          nodeName: 'n',
          containers: [{ name: 'main', image: 'web' }],
          resourceClaims: [{ name: 'gpu', resourceClaimName: name }],
        },
      },
      { namespace },
    );
    const tolerations = tolerationSeconds
      ? [{ operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds }]
      : [];
    const results = [{ request: 'gpu', driver: 'd.test', pool: 'p', device: 'x', tolerations }];
    const reservedFor = [{ resource: 'pods', name, uid: pod.metadata.uid ?? '' }];
    await claims.updateStatus({ ...claim, status: { allocation: { devices: { results } }, reservedFor } });
    return pod;
  }

  it('end the Pods that use the device, say why, and let those go on whose taint is taken off in time', async () => {
    await slices().create({
      metadata: { name: 's' },
      spec: {
        driver: 'd.test',
        nodeName: 'n',
        pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'x' }],
      },
    });
    // In this order: whoever sees the second Pod and its claim has seen the first and its claim.
    await using('patient', 3600);
    const intolerant = await using('intolerant');
    const ready = { type: 'Ready', status: 'True' };
    await pods().updateStatus({ ...intolerant, status: { phase: 'Running', conditions: [ready] } });
    await taint([evict]);
    // The sign that the patient one was found to be to go later: its turn was before.
    await eventually(async () => {
      const pod = await pods().get('intolerant', { namespace });
      expect(pod.metadata.deletionTimestamp).toBeDefined();
      expect(findCondition(pod.status?.conditions, 'DisruptionTarget')).toMatchObject({
        status: 'True',
        reason: 'DeletionByDeviceTaintManager',
        message: 'Device Taint manager: deleting due to NoExecute taint',
      });
      expect(findCondition(pod.status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
    });
    await eventually(async () => expect(await messages()).toEqual(['Marking for deletion']));
    const [device] = (await slices().get('s')).spec.devices ?? [];
    expect(device?.taints?.[0]?.timeAdded).toBeDefined();
    await taint([]);
    await eventually(async () =>
      expect(await messages()).toEqual(['Marking for deletion', 'Cancelling deletion']),
    );
    expect((await pods().get('patient', { namespace })).metadata.deletionTimestamp).toBeUndefined();
    for (const name of ['intolerant', 'patient'])
      await pods()
        .patch(name, { metadata: { finalizers: null } }, { type: 'merge', namespace })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
  });
});
