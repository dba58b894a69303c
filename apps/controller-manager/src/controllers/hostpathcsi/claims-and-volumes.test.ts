import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tinkernetes/api';
import { isForgotten, isOurs, isReleased, mayProvision } from './claims-and-volumes';

const driver = 'hostpath.csi.tinkernetes.dev';
const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
const deletionTimestamp = '2026-01-01T00:00:00Z';
const claim = (
  annotations: Record<string, string>,
  more: { volumeName?: string; deletionTimestamp?: string } = {},
): PersistentVolumeClaim => ({
  metadata: {
    name: 'c',
    annotations,
    ...(more.deletionTimestamp ? { deletionTimestamp: more.deletionTimestamp } : {}),
  },
  spec: { volumeName: more.volumeName },
});
const handedTo = (provisioner: string) => ({ 'volume.kubernetes.io/storage-provisioner': provisioner });
const chosen = { 'volume.kubernetes.io/selected-node': 'n1' };

// As TestShouldProvision of sig-storage-lib-external-provisioner has them.
it.each<[string, PersistentVolumeClaim, boolean]>([
  ['handed to this driver', claim(handedTo(driver)), true],
  ['handed to another', claim(handedTo('abc.def/xyz')), false],
  ['not handed to any', claim({}), false],
  ['that has a volume', claim(handedTo(driver), { volumeName: 'v' }), false],
  ['that is being deleted', claim(handedTo(driver), { deletionTimestamp }), false],
])('a claim %s is ours: %s', (_, given, expected) => {
  expect(isOurs(given)).toBe(expected);
});

it.each<[string, Pick<StorageClass, 'provisioner' | 'volumeBindingMode'>, Record<string, string>, boolean]>([
  ['at once', { provisioner: driver }, {}, true],
  ['at once, said so', { provisioner: driver, volumeBindingMode: 'Immediate' }, {}, true],
  ['late, without a node', { provisioner: driver, volumeBindingMode: 'WaitForFirstConsumer' }, {}, false],
  ['late, with a node', { provisioner: driver, volumeBindingMode: 'WaitForFirstConsumer' }, chosen, true],
  [
    'late, with a node that is none',
    { provisioner: driver, volumeBindingMode: 'WaitForFirstConsumer' },
    { 'volume.kubernetes.io/selected-node': '' },
    false,
  ],
  ['by another since', { provisioner: 'abc.def/xyz' }, {}, false],
])('a claim whose class provisions %s may get a volume', (_, storageClass, annotations, expected) => {
  expect(mayProvision(claim(annotations), { metadata: { name: 's' }, ...storageClass })).toBe(expected);
});

interface VolumeShape {
  phase?: 'Released' | 'Available' | 'Bound' | 'Failed';
  policy?: 'Delete' | 'Retain';
  by?: string;
  isGoing?: boolean;
  isHeld?: boolean;
}
const volume = ({
  phase = 'Released',
  policy = 'Delete',
  by = driver,
  isGoing = false,
  isHeld = true,
}: VolumeShape): PersistentVolume => ({
  metadata: {
    name: 'v',
    annotations: { 'pv.kubernetes.io/provisioned-by': by },
    finalizers: ['kubernetes.io/pv-protection', ...(isHeld ? [finalizer] : [])],
    ...(isGoing ? { deletionTimestamp } : {}),
  },
  spec: { persistentVolumeReclaimPolicy: policy },
  status: { phase },
});

// The first of each pair as TestShouldDelete has it.
it.each<[string, VolumeShape, { released: boolean; forgotten: boolean }]>([
  ['released', {}, { released: true, forgotten: false }],
  ['bound', { phase: 'Bound' }, { released: false, forgotten: false }],
  ['of another provisioner', { by: 'abc.def/xyz' }, { released: false, forgotten: false }],
  ['released, to be kept', { policy: 'Retain' }, { released: false, forgotten: false }],
  ['released, deleted, still held', { isGoing: true }, { released: true, forgotten: false }],
  ['released, deleted, let go', { isGoing: true, isHeld: false }, { released: false, forgotten: false }],
  [
    'released, to be kept, deleted',
    { policy: 'Retain', isGoing: true },
    { released: false, forgotten: true },
  ],
  [
    'released, to be kept, deleted, let go',
    { policy: 'Retain', isGoing: true, isHeld: false },
    { released: false, forgotten: false },
  ],
  [
    'bound, to be kept, deleted',
    { phase: 'Bound', policy: 'Retain', isGoing: true },
    { released: false, forgotten: false },
  ],
])('a volume that is %s', (_, shape, { released, forgotten }) => {
  expect([isReleased(volume(shape)), isForgotten(volume(shape))]).toEqual([released, forgotten]);
});
