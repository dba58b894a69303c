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
