import type { KubeObject } from '@tinkernetes/api';
import { makeNode, makePod } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';

const zone = 'topology.kubernetes.io/zone';
const nodes = [makeNode('a', { labels: { [zone]: 'za' } }), makeNode('b', { labels: { [zone]: 'zb' } })];
const pod = (node?: string, name = 'new') =>
  makePod(name, {
    node,
    spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
  });

const bindCompleted = { 'pv.kubernetes.io/bind-completed': 'yes' };
const claim = (spec: object, annotations = {}): KubeObject =>
  ({
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default', uid: 'c', annotations },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
  }) as KubeObject;
const volume = (name: string, spec: object, labels = {}): KubeObject =>
  ({
    kind: 'PersistentVolume',
    metadata: { name, labels },
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '10Gi' }, ...spec },
    status: { phase: 'Available' },
  }) as KubeObject;
const storageClass = (provisioner: string, more: object = {}): KubeObject =>
  ({
    kind: 'StorageClass',
    metadata: { name: 'fast' },
    provisioner,
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  }) as KubeObject;
const onNode = (name: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] },
      ],
    },
  },
});
const everywhere = (reason: string) => ({ a: reason, b: reason });
const noVolume = "node(s) didn't find available persistent volumes to bind";

it.each([
  {
    rule: 'a claim that is missing',
    objects: [],
    expected: everywhere('persistentvolumeclaim "data" not found'),
  },
  {
    rule: 'a claim that its controller should have bound already',
    objects: [claim({})],
    expected: everywhere('pod has unbound immediate PersistentVolumeClaims'),
  },
  {
    rule: 'a bound local volume',
    objects: [claim({ volumeName: 'pv' }, bindCompleted), volume('pv', onNode('b'))],
    expected: { a: "node(s) didn't match PersistentVolume's node affinity", b: 'ok' },
  },
  {
    rule: 'a bound volume with a zone label',
    objects: [claim({ volumeName: 'pv' }, bindCompleted), volume('pv', {}, { [zone]: 'za' })],
    expected: { a: 'ok', b: 'node(s) had no available volume zone' },
  },
  {
    rule: 'a waiting claim and local volumes',
    objects: [
      claim({ storageClassName: 'fast' }),
      storageClass('kubernetes.io/no-provisioner'),
      volume('small', { storageClassName: 'fast', capacity: { storage: '1Gi' }, ...onNode('a') }),
      volume('large', { storageClassName: 'fast', ...onNode('b') }),
    ],
    expected: { a: noVolume, b: 'ok' },
  },
  {
    rule: 'a waiting claim that can be provisioned in one zone',
    objects: [
      claim({ storageClassName: 'fast' }),
      storageClass('example.com/disk', {
        allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['za'] }] }],
      }),
    ],
    expected: { a: 'ok', b: noVolume },
  },
  {
    rule: 'a claim for one Pod only, in use',
    objects: [
      claim({ volumeName: 'pv', accessModes: ['ReadWriteOncePod'] }, bindCompleted),
      volume('pv', { accessModes: ['ReadWriteOncePod'] }),
    ],
    pods: [pod('a', 'other')],
    expected: everywhere(
      'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    ),
  },
  {
    rule: 'a driver that can attach no more',
    objects: [
      claim({ volumeName: 'pv' }, bindCompleted),
      volume('pv', { csi: { driver: 'disk', volumeHandle: 'h' } }),
      {
        kind: 'CSINode',
        metadata: { name: 'a' },
        spec: { drivers: [{ name: 'disk', nodeID: 'a', allocatable: { count: 0 } }] },
      } as KubeObject,
    ],
    expected: { a: 'node(s) exceed max volume count', b: 'ok' },
  },
])('volumes: $rule', ({ objects, pods = [], expected }) => {
  expect(new TestCluster({ nodes, objects, pods }).verdicts(pod())).toEqual(expected);
});

const driver = (storageCapacity: boolean): KubeObject =>
  ({ kind: 'CSIDriver', metadata: { name: 'example.com/disk' }, spec: { storageCapacity } }) as KubeObject;
const capacity = (more: object): KubeObject =>
  ({
    kind: 'CSIStorageCapacity',
    metadata: { name: JSON.stringify(more), namespace: 'default' },
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { [zone]: 'za' } },
    ...more,
  }) as KubeObject;
const full = 'node(s) did not have enough free storage';

it.each([
  { rule: 'enough room', offers: [{ capacity: '5Gi' }], expected: { a: 'ok', b: full } },
  { rule: 'too little room', offers: [{ capacity: '4Gi' }], expected: everywhere(full) },
  {
    rule: 'room that no single volume may take',
    offers: [{ capacity: '50Gi', maximumVolumeSize: '4Gi' }],
    expected: everywhere(full),
  },
  {
    rule: 'room of another class',
    offers: [{ capacity: '50Gi', storageClassName: 'slow' }],
    expected: everywhere(full),
  },
  {
    rule: 'room that no node reaches',
    offers: [{ capacity: '50Gi', nodeTopology: undefined }],
    expected: everywhere(full),
  },
])('storage capacity: $rule', ({ offers, expected }) => {
  const objects = [
    claim({ storageClassName: 'fast' }),
    storageClass('example.com/disk'),
    driver(true),
    ...offers.map(capacity),
  ];
  expect(new TestCluster({ nodes, objects }).verdicts(pod())).toEqual(expected);
});

it('looks at storage capacity only for drivers that publish it', () => {
  const objects = [claim({ storageClassName: 'fast' }), storageClass('example.com/disk'), driver(false)];
  expect(new TestCluster({ nodes, objects }).verdicts(pod())).toEqual(everywhere('ok'));
});

it('keeps a claim that is being provisioned for one node to that node', () => {
  const selected = { 'volume.kubernetes.io/selected-node': 'b' };
  const objects = [claim({ storageClassName: 'fast' }, selected), storageClass('example.com/disk')];
  expect(new TestCluster({ nodes, objects }).verdicts(pod())).toEqual({ a: noVolume, b: 'ok' });
});

const limitOf = (count: number) =>
  ({
    kind: 'CSINode',
    metadata: { name: 'a' },
    spec: { drivers: [{ name: 'disk', nodeID: 'a', allocatable: { count } }] },
  }) as KubeObject;
const onDisk = (name: string) => volume(name, { csi: { driver: 'disk', volumeHandle: name } });
const attachment = (persistentVolumeName: string, nodeName = 'a') =>
  ({
    kind: 'VolumeAttachment',
    metadata: { name: persistentVolumeName },
    spec: { attacher: 'disk', nodeName, source: { persistentVolumeName } },
  }) as KubeObject;
const tooMany = { a: 'node(s) exceed max volume count', b: 'ok' };

it.each([
  {
    rule: 'a volume that a Pod there uses already',
    limit: 1,
    pods: [pod('a', 'other')],
    expected: everywhere('ok'),
  },
  {
    rule: 'a volume that is still attached',
    limit: 1,
    more: [onDisk('old'), attachment('old')],
    expected: tooMany,
  },
  {
    rule: 'a volume attached elsewhere',
    limit: 1,
    more: [onDisk('old'), attachment('old', 'b')],
    expected: everywhere('ok'),
  },
  { rule: 'the volume itself, attached', limit: 1, more: [attachment('pv')], expected: everywhere('ok') },
])('volume limits count $rule', ({ limit, pods = [], more = [], expected }) => {
  const objects = [claim({ volumeName: 'pv' }, bindCompleted), onDisk('pv'), limitOf(limit), ...more];
  expect(new TestCluster({ nodes, objects, pods }).verdicts(pod())).toEqual(expected);
});

it('counts a volume that will be provisioned against its driver’s limit', () => {
  const objects = [claim({ storageClassName: 'fast' }), storageClass('disk'), limitOf(0)];
  expect(new TestCluster({ nodes, objects }).verdicts(pod())).toEqual(tooMany);
});

it('knows zones of old volumes by the labels of new nodes', () => {
  const labels = { 'failure-domain.beta.kubernetes.io/zone': 'za__zc' };
  const objects = [claim({ volumeName: 'pv' }, bindCompleted), volume('pv', {}, labels)];
  expect(new TestCluster({ nodes, objects }).verdicts(pod())).toEqual({
    a: 'ok',
    b: 'node(s) had no available volume zone',
  });
});

const using = (name: string, source: object, node?: string) =>
  makePod(name, { node, spec: { volumes: [{ name: 'disk', ...source }] as never } });

it.each([
  [{ gcePersistentDisk: { pdName: 'd' } }, { gcePersistentDisk: { pdName: 'd' } }, false],
  [
    { gcePersistentDisk: { pdName: 'd', readOnly: true } },
    { gcePersistentDisk: { pdName: 'd', readOnly: true } },
    true,
  ],
  [{ awsElasticBlockStore: { volumeID: 'v' } }, { awsElasticBlockStore: { volumeID: 'v' } }, false],
  [{ awsElasticBlockStore: { volumeID: 'v' } }, { awsElasticBlockStore: { volumeID: 'w' } }, true],
  [{ iscsi: { iqn: 'q', readOnly: true } }, { iscsi: { iqn: 'q' } }, false],
  [{ rbd: { monitors: ['m', 'n'], image: 'i' } }, { rbd: { monitors: ['n'], image: 'i' } }, false],
  [{ rbd: { monitors: ['m'], image: 'i' } }, { rbd: { monitors: ['m'], image: 'i', pool: 'p' } }, true],
])('disks for one writer: %j beside %j', (wanted, used, fits) => {
  const cluster = new TestCluster({ nodes, pods: [using('other', used, 'a')] });
  expect(cluster.verdicts(using('new', wanted)).a).toBe(fits ? 'ok' : 'node(s) had no available disk');
});
