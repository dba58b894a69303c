import type { CSIDriver, Node, PersistentVolume, Pod } from '@tinkernetes/api';
import { attachable, isExclusive, mayDetach, multiAttachMessage, usesVolumes } from './attachable';

const volume = (spec: Partial<PersistentVolume['spec']>): PersistentVolume => ({
  metadata: { name: 'pv' },
  spec: { accessModes: ['ReadWriteOnce'], ...spec },
});
const csi = { driver: 'd.example.com', volumeHandle: 'h1' };
const driver = (attachRequired: boolean): CSIDriver => ({
  metadata: { name: 'd.example.com' },
  spec: { attachRequired },
});

it.each([
  ['a driver without object', { csi }, undefined, 'kubernetes.io/csi/d.example.com^h1'],
  ['a driver that attaches', { csi }, driver(true), 'kubernetes.io/csi/d.example.com^h1'],
  ['a driver that does not', { csi }, driver(false), undefined],
  ['a directory', { hostPath: { path: '/x' } }, undefined, undefined],
])('a volume of %s is attached as %j', (_of, spec, found, name) => {
  expect(attachable(volume(spec), () => found)?.uniqueName).toBe(name);
});

it.each<[Exclude<PersistentVolume['spec']['accessModes'], undefined>, boolean]>([
  [['ReadWriteOnce'], true],
  [['ReadWriteOncePod'], true],
  [['ReadWriteMany'], false],
  [['ReadWriteOnce', 'ReadOnlyMany'], false],
  [[], false],
])('%j may be on one node only: %s', (accessModes, expected) => {
  const found = attachable(volume({ csi, accessModes }), () => undefined);
  expect(found && isExclusive(found)).toBe(expected);
});

const running = { state: { running: {} } };
const ended = { state: { terminated: { exitCode: 0 } } };
const status = (...states: object[]) =>
  ({ containerStatuses: states.map((state) => ({ name: 'c', ...state })) }) as Pod['status'];

it.each<[string, Partial<Pod['metadata']>, Pod['status'], boolean]>([
  ['runs', {}, { phase: 'Running' }, true],
  ['has succeeded', {}, { phase: 'Succeeded' }, false],
  ['is going, its container runs', { deletionTimestamp: 'now' }, status(running), true],
  ['is going, its container has ended', { deletionTimestamp: 'now' }, status(ended), false],
  ['is going, nothing is known of its containers', { deletionTimestamp: 'now' }, {}, true],
])('a Pod that %s: uses volumes %j %j → %s', (_what, metadata, podStatus, expected) => {
  expect(
    usesVolumes({ metadata: { name: 'p', ...metadata }, spec: { containers: [] }, status: podStatus }),
  ).toBe(expected);
});

const minute = 60_000;
const node = (ready: 'True' | 'False', inUse: boolean, taint?: string): Node => ({
  metadata: { name: 'n' },
  spec: taint ? { taints: [{ key: taint, effect: 'NoExecute' }] } : {},
  status: {
    conditions: [{ type: 'Ready', status: ready }],
    volumesInUse: inUse ? ['v'] : [],
  },
});

it.each([
  ['the node is gone', undefined, 0, 6 * minute, 'now'],
  ['the kubelet has let it go', node('True', false), 0, 6 * minute, 'now'],
  ['a healthy node uses it', node('True', true), 60 * minute, 6 * minute, 'wait'],
  ['an unhealthy node uses it, for a while', node('False', true), 5 * minute, 6 * minute, 'wait'],
  ['an unhealthy node uses it, for long', node('False', true), 6 * minute, 6 * minute, 'timeout'],
  ['the same, where that is switched off', node('False', true), 60 * minute, undefined, 'wait'],
  [
    'the node is out of service',
    node('True', true, 'node.kubernetes.io/out-of-service'),
    0,
    6 * minute,
    'out-of-service',
  ],
])('%s: detached %5$s', (_when, found, waitedMs, maxWaitMs, verdict) => {
  expect(mayDetach('v', found, { waitedMs, maxWaitMs })).toBe(verdict);
});

const pod = (name: string, namespace = 'a'): Pod => ({
  metadata: { name, namespace },
  spec: { containers: [] },
});
it.each([
  [[], "Volume is already exclusively attached to one node and can't be attached to another"],
  [[pod('x'), pod('y')], 'Volume is already used by pod(s) x, y'],
  [[pod('x'), pod('z', 'b')], 'Volume is already used by pod(s) x and 1 pod(s) in different namespaces'],
  [[pod('z', 'b')], 'Volume is already used by 1 pod(s) in different namespaces'],
])('says who has a volume', (others, text) => {
  expect(multiAttachMessage('pv', pod('me'), others)).toBe(`Multi-Attach error for volume "pv" ${text}`);
});
