import type { PersistentVolumeClaim, StorageClass, VolumeAttributesClass } from '@tinkernetes/api';
import type { Topology } from '@tinkernetes/csi';
import { capabilityOf, createRequest, volumeObject, type ProvisionFacts } from './volume-object';

const driver = 'hostpath.csi.tinkernetes.dev';
const gi = 1024 ** 3;
const claimOf = (spec: Partial<PersistentVolumeClaim['spec']> = {}): PersistentVolumeClaim => ({
  metadata: { name: 'c', namespace: 'ns', uid: 'u' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const classOf = (more: Partial<StorageClass> = {}): StorageClass => ({
  metadata: { name: 'csi' },
  provisioner: driver,
  ...more,
});
const factsOf = (facts: Partial<ProvisionFacts> = {}): ProvisionFacts => ({
  claim: claimOf(),
  storageClass: classOf(),
  attributes: undefined,
  node: undefined,
  csiNode: undefined,
  ...facts,
});
const gold: VolumeAttributesClass = {
  metadata: { name: 'gold' },
  driverName: driver,
  parameters: { iops: '9' },
};
const place = (topologyKeys: string[], labels: Record<string, string>) => ({
  node: { metadata: { name: 'n1', labels }, spec: {} },
  csiNode: { metadata: { name: 'n1' }, spec: { drivers: [{ name: driver, nodeID: 'n1', topologyKeys }] } },
});

// Cases of TestCreateDriverReturns… and TestProvision of external-provisioner.
describe('createRequest', () => {
  it('asks for a volume named after the claim, of its size and mode', () => {
    expect(createRequest(factsOf())).toEqual({
      name: 'pvc-u',
      capacityRange: { requiredBytes: gi },
      volumeCapabilities: [
        { accessMode: { mode: 'SINGLE_NODE_WRITER' }, mount: { fsType: '', mountFlags: [] } },
      ],
      parameters: {},
      mutableParameters: {},
    });
  });

  it.each<[string, Partial<ProvisionFacts>, Partial<ReturnType<typeof createRequest>>]>([
    [
      'a limit',
      { claim: claimOf({ resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } } }) },
      { capacityRange: { requiredBytes: gi, limitBytes: 2 * gi } },
    ],
    [
      'only the parameters that are its own',
      { storageClass: classOf({ parameters: { kind: 'fast', 'csi.storage.k8s.io/fstype': 'ext4' } }) },
      {
        parameters: { kind: 'fast' },
        volumeCapabilities: [
          { accessMode: { mode: 'SINGLE_NODE_WRITER' }, mount: { fsType: 'ext4', mountFlags: [] } },
        ],
      },
    ],
    [
      'no parameter that names a secret',
      { storageClass: classOf({ parameters: { 'csi.storage.k8s.io/node-stage-secret-name': 's' } }) },
      { parameters: {} },
    ],
    ["its class's attributes", { attributes: gold }, { mutableParameters: { iops: '9' } }],
    [
      'the place of the chosen node',
      place(['zone'], { zone: 'a', other: 'b' }),
      {
        accessibilityRequirements: {
          requisite: [{ segments: { zone: 'a' } }],
          preferred: [{ segments: { zone: 'a' } }],
        },
      },
    ],
  ])('tells the driver %s', (_, facts, expected) => {
    expect(createRequest(factsOf(facts))).toMatchObject(expected);
  });

  it.each([
    ['no node was chosen', {}],
    ['the driver has no topology', place([], { zone: 'a' })],
    ['the node has no such label', place(['zone'], {})],
  ])('names no place where %s', (_, facts) => {
    expect(createRequest(factsOf(facts)).accessibilityRequirements).toBeUndefined();
  });

  it("refuses a parameter that looks like the provisioner's and is not", () => {
    const storageClass = classOf({ parameters: { 'csi.storage.k8s.io/fs-type': 'ext4' } });
    expect(() => createRequest(factsOf({ storageClass }))).toThrow(
      'failed to strip CSI Parameters of prefixed keys: found unknown parameter key "csi.storage.k8s.io/fs-type" with reserved namespace csi.storage.k8s.io/',
    );
  });
});

it.each([
  ['ReadWriteOnce', 'SINGLE_NODE_WRITER'],
  ['ReadWriteOncePod', 'SINGLE_NODE_WRITER'],
  ['ReadOnlyMany', 'MULTI_NODE_READER_ONLY'],
  ['ReadWriteMany', 'MULTI_NODE_MULTI_WRITER'],
  ['Whatever', 'UNKNOWN'],
])('the access mode %s is %s to the driver', (mode, expected) => {
  expect(capabilityOf({}, mode).accessMode?.mode).toBe(expected);
});

it('a volume for blocks has neither file system nor mount options', () => {
  expect(capabilityOf({ volumeMode: 'Block', mountOptions: ['ro'] }, 'ReadWriteOnce', 'ext4')).toEqual({
    accessMode: { mode: 'SINGLE_NODE_WRITER' },
    block: {},
  });
});

describe('volumeObject', () => {
  const made = { volumeId: 'h', capacityBytes: 2 * gi, volumeContext: { k: 'v' } };

  it('binds what the driver made to the claim', () => {
    expect(volumeObject(factsOf(), made)).toEqual({
      metadata: {
        name: 'pvc-u',
        annotations: { 'pv.kubernetes.io/provisioned-by': driver },
        finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'],
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '2Gi' },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'ns', name: 'c', uid: 'u' },
        csi: { driver, volumeHandle: 'h', volumeAttributes: { k: 'v' } },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'csi',
        volumeMode: undefined,
      },
    });
  });

  const ext4 = { 'csi.storage.k8s.io/fstype': 'ext4' };
  it.each<[string, Partial<ProvisionFacts>, Partial<typeof made>, object]>([
    [
      'the size asked for where the driver knows none',
      {},
      { capacityBytes: 0 },
      { capacity: { storage: '1Gi' } },
    ],
    [
      'what its class says',
      { storageClass: classOf({ reclaimPolicy: 'Retain', mountOptions: ['noatime'], parameters: ext4 }) },
      {},
      { persistentVolumeReclaimPolicy: 'Retain', mountOptions: ['noatime'], csi: { fsType: 'ext4' } },
    ],
    ['the class of attributes', { attributes: gold }, {}, { volumeAttributesClassName: 'gold' }],
  ])('has %s', (_, facts, more, expected) => {
    expect(volumeObject(factsOf(facts), { ...made, ...more }).spec).toMatchObject(expected);
  });

  it('has no file system for blocks', () => {
    const claim = claimOf({ volumeMode: 'Block' });
    const { spec } = volumeObject(factsOf({ claim, storageClass: classOf({ parameters: ext4 }) }), made);
    expect([spec.volumeMode, spec.csi?.fsType]).toEqual(['Block', undefined]);
  });

  it('is used only where the driver says, one term a place', () => {
    const accessibleTopology: Topology[] = [
      { segments: { zone: 'a', rack: '1' } },
      { segments: { zone: 'b' } },
    ];
    const { spec } = volumeObject(factsOf(), { ...made, accessibleTopology });
    const isIn = (key: string, value: string) => ({ key, operator: 'In', values: [value] });
    expect(spec.nodeAffinity?.required?.nodeSelectorTerms).toEqual([
      { matchExpressions: [isIn('zone', 'a'), isIn('rack', '1')] },
      { matchExpressions: [isIn('zone', 'b')] },
    ]);
  });
});
