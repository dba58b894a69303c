import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tinkernetes/api';
import { defaultClass, findVolume, mismatchOf, namesClass } from './match';
import { driverOf, isInTree } from './provisioners';
import { waitingFor } from './waiting';

const volume = (name: string, change: object = {}, spec: object = {}): PersistentVolume => ({
  metadata: { name, labels: { tier: name } },
  spec: {
    capacity: { storage: '10Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'fast',
    ...spec,
  },
  status: { phase: 'Available' },
  ...change,
});
const claim = (spec: object = {}): PersistentVolumeClaim => ({
  metadata: { name: 'c', namespace: 'default', uid: 'u' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'fast',
    resources: { requests: { storage: '5Gi' } },
    ...spec,
  },
});
const onNode = (name: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
    },
  },
});
const n1: Node = { metadata: { name: 'n1' }, spec: {} };

it.each([
  [
    'the smallest that is large enough',
    claim(),
    [
      volume('large'),
      volume('small', {}, { capacity: { storage: '1Gi' } }),
      volume('fit', {}, { capacity: { storage: '5Gi' } }),
    ],
    'fit',
  ],
  [
    'one that is reserved for the claim, however large',
    claim(),
    [
      volume('fit', {}, { capacity: { storage: '5Gi' } }),
      volume('own', {}, { claimRef: { namespace: 'default', name: 'c' } }),
    ],
    'own',
  ],
  [
    'none that is reserved for an earlier claim of the name',
    claim(),
    [volume('old', {}, { claimRef: { namespace: 'default', name: 'c', uid: 'other' } })],
    undefined,
  ],
  [
    'one that is reserved for the claim, of whatever class and labels',
    claim({ selector: { matchLabels: { tier: 'none' } } }),
    [volume('own', {}, { storageClassName: 'slow', claimRef: { namespace: 'default', name: 'c' } })],
    'own',
  ],
  [
    'the one that offers the fewest modes, though it is larger',
    claim(),
    [
      volume('both', {}, { accessModes: ['ReadOnlyMany', 'ReadWriteOnce'] }),
      volume('exact', {}, { capacity: { storage: '20Gi' } }),
    ],
    'exact',
  ],
  ['none with other attributes', claim(), [volume('v', {}, { volumeAttributesClassName: 'a' })], undefined],
  [
    'one with the attributes that are asked for',
    claim({ volumeAttributesClassName: 'a' }),
    [volume('v'), volume('w', {}, { volumeAttributesClassName: 'a' })],
    'w',
  ],
  ['none of another class', claim({ storageClassName: 'slow' }), [volume('fast')], undefined],
  ['none without the access mode', claim({ accessModes: ['ReadWriteMany'] }), [volume('one')], undefined],
  ['none of another mode', claim({ volumeMode: 'Block' }), [volume('files')], undefined],
  [
    'one that the selector matches',
    claim({ selector: { matchLabels: { tier: 'gold' } } }),
    [volume('lead'), volume('gold')],
    'gold',
  ],
  [
    'none that is being deleted',
    claim(),
    [{ ...volume('x'), metadata: { name: 'x', deletionTimestamp: 't' } }],
    undefined,
  ],
  ['none that is not free', claim(), [volume('x', { status: { phase: 'Released' } })], undefined],
  [
    'one that the node reaches',
    claim(),
    [volume('far', {}, onNode('n2')), volume('near', {}, onNode('n1'))],
    'near',
  ],
])('finds %s', (_, given, volumes, expected) => {
  expect(findVolume(given, volumes, { node: n1 })?.metadata.name).toBe(expected);
});

it('leaves free volumes to the scheduler, but not what is reserved for the claim', () => {
  const own = volume('own', {}, { claimRef: { namespace: 'default', name: 'c' } });
  const found = (volumes: PersistentVolume[]) =>
    findVolume(claim(), volumes, { onlyReserved: true })?.metadata.name;
  expect([found([volume('free')]), found([volume('free'), own])]).toEqual([undefined, 'own']);
});

it.each([
  [{}, {}, false],
  [{ storageClassName: '' }, {}, true],
  [{ storageClassName: 'a' }, {}, true],
  [{}, { 'volume.beta.kubernetes.io/storage-class': 'a' }, true],
])('knows whether %j with annotations %j has a class', (spec, annotations, expected) => {
  expect(namesClass({ metadata: { name: 'c', annotations }, spec })).toBe(expected);
});

it('takes the newest default class, of several the first by name', () => {
  const classOf = (name: string, day: number, value = 'true'): StorageClass => ({
    metadata: {
      name,
      creationTimestamp: `2026-01-0${day}T00:00:00Z`,
      annotations: { 'storageclass.kubernetes.io/is-default-class': value },
    },
    provisioner: 'p',
  });
  const chosen = (...classes: StorageClass[]) => defaultClass(classes)?.metadata.name;
  expect(chosen(classOf('a', 1), classOf('c', 2), classOf('b', 2))).toBe('b');
  expect(chosen(classOf('a', 1), classOf('b', 2, 'false'))).toBe('a');
  expect(chosen(classOf('b', 2, 'false'))).toBeUndefined();
});

it.each([
  ['kubernetes.io/no-provisioner', 'kubernetes.io/no-provisioner', true],
  ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com', false],
  ['csi.example.com', 'csi.example.com', false],
])('has volumes of %s made by %s, which is in the tree: %p', (provisioner, driver, inTree) => {
  const found = driverOf({ metadata: { name: 'c' }, provisioner });
  expect([found, isInTree(found)]).toEqual([driver, inTree]);
});

it.each([
  ['nothing', volume('v'), claim(), undefined],
  ['its size', volume('v', {}, { capacity: { storage: '1Gi' } }), claim(), 'requested PV is too small'],
  ['its class', volume('v'), claim({ storageClassName: 'slow' }), 'storageClassName does not match'],
  [
    'its attributes',
    volume('v'),
    claim({ volumeAttributesClassName: 'a' }),
    'volumeAttributesClassName does not match',
  ],
  ['its mode', volume('v'), claim({ volumeMode: 'Block' }), 'incompatible volumeMode'],
  ['its access', volume('v'), claim({ accessModes: ['ReadWriteMany'] }), 'incompatible accessMode'],
  [
    'its end',
    volume('v', { metadata: { name: 'v', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    claim(),
    'the volume is marked for deletion "v"',
  ],
])('says that %s keeps a volume from the claim that names it', (_, named, wanted, expected) => {
  expect(mismatchOf(named, wanted)).toBe(expected);
});

it.each([
  [[], 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding'],
  [['a'], 'WaitForPodScheduled', 'waiting for pod a to be scheduled'],
  [['a', 'b'], 'WaitForPodScheduled', 'waiting for pods a,b to be scheduled'],
])('says which of the Pods %j a claim waits for', (names, reason, message) => {
  const podOf = (name: string, change: object) => ({
    metadata: { name },
    spec: { containers: [] },
    ...change,
  });
  const others = [
    podOf('placed', { spec: { nodeName: 'n1', containers: [] } }),
    podOf('done', { status: { phase: 'Failed' } }),
  ];
  expect(waitingFor([...names.map((name) => podOf(name, {})), ...others])).toEqual({ reason, message });
});
