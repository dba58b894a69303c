import { PersistentVolumeClaims, StatefulSets } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
let manager: TestManager;

// With the rights of its own service account only, as in a cluster.
beforeAll(async () => {
  manager = await startTestManager({ args: ['--use-service-account-credentials=true'] });
});
afterAll(() => manager?.stop());

const claimOf = (pod: string) => manager.client.for(PersistentVolumeClaims).get(`data-${pod}`, { namespace });
const ownersOf = async (pod: string) =>
  ((await claimOf(pod)).metadata.ownerReferences ?? []).map((o) => `${o.kind}/${o.name}`);
const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);

async function createSet(name: string, policy: object): Promise<void> {
  const labels = { app: name };
  await manager.client.for(StatefulSets).create(
    {
      metadata: { name },
      spec: {
        replicas: 2,
        serviceName: name,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        persistentVolumeClaimRetentionPolicy: policy,
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'db' }] } },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
    { namespace },
  );
  await eventually(() => Promise.all([0, 1].map((i) => claimOf(`${name}-${i}`))));
}

const patchSet = (name: string, spec: object) =>
  manager.client.for(StatefulSets).patch(name, { spec }, { type: 'merge', namespace });

describe('persistentVolumeClaimRetentionPolicy', () => {
  it('whenScaled: Delete lets the claim of a Pod go that is scaled away, and no other', async () => {
    await createSet('scaled', { whenScaled: 'Delete', whenDeleted: 'Retain' });
    await patchSet('scaled', { replicas: 1 });
    await eventually(async () => expect(await isGone(claimOf('scaled-1'))).toBe(true));
    expect(await ownersOf('scaled-0')).toEqual([]);
  });

  it('whenDeleted: Delete makes the set the owner, also of claims that were there before', async () => {
    await createSet('deleted', { whenScaled: 'Retain', whenDeleted: 'Retain' });
    expect(await ownersOf('deleted-0')).toEqual([]);
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Retain', whenDeleted: 'Delete' };
    await patchSet('deleted', { persistentVolumeClaimRetentionPolicy });
    await eventually(async () => expect(await ownersOf('deleted-0')).toEqual(['StatefulSet/deleted']));
    await patchSet('deleted', {
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Retain' },
    });
    await eventually(async () => expect(await ownersOf('deleted-0')).toEqual([]));
  });
});
