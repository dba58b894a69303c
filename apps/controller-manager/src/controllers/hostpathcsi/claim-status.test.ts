import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from '@tinkernetes/api';
import { CsiError } from '@tinkernetes/csi';
import { grown, isInfeasible, waitingForNode, wantsToChange, withCondition } from './claim-status';

const [before, now] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'];
const claim = (status: PersistentVolumeClaimStatus, volumeAttributesClassName?: string) =>
  ({
    metadata: { name: 'c' },
    spec: { volumeAttributesClassName },
    status,
  }) satisfies PersistentVolumeClaim;

it.each<[string, PersistentVolumeClaim, boolean]>([
  ['has no class', claim({ phase: 'Bound' }), false],
  ['has its first class', claim({ phase: 'Bound' }, 'gold'), true],
  ['has another class', claim({ phase: 'Bound', currentVolumeAttributesClassName: 'silver' }, 'gold'), true],
  [
    'has the class it wants',
    claim({ phase: 'Bound', currentVolumeAttributesClassName: 'gold' }, 'gold'),
    false,
  ],
  ['wants none any more', claim({ phase: 'Bound', currentVolumeAttributesClassName: 'gold' }, ''), false],
  ['is not bound yet', claim({ phase: 'Pending' }, 'gold'), false],
])('knows of a claim that %s whether its volume is to change', (_, given, expected) => {
  expect(wantsToChange(given)).toBe(expected);
});

it.each<[ConstructorParameters<typeof CsiError>[0], boolean]>([
  ['INVALID_ARGUMENT', true],
  ['OUT_OF_RANGE', true],
  ['NOT_FOUND', true],
  ['UNAVAILABLE', false],
  ['INTERNAL', false],
  ['RESOURCE_EXHAUSTED', false],
])('takes %s of a driver for its last word: %s', (code, expected) => {
  expect(isInfeasible(new CsiError(code, 'no'))).toBe(expected);
});

it("does not take an error of another kind for a driver's word", () => {
  expect(isInfeasible(new Error('socket hang up'))).toBe(false);
});

it.each([
  ['new', undefined, now],
  ['as it was', 'True', before],
  ['turned', 'False', now],
] as const)('gives a condition that is %s its time', (_, was, expected) => {
  const other = { type: 'FileSystemResizePending', status: 'True' };
  const given = claim({
    conditions: [other, ...(was ? [{ type: 'Resizing', status: was, lastTransitionTime: before }] : [])],
  });
  expect(withCondition(given, { type: 'Resizing', status: 'True', lastTransitionTime: now })).toEqual([
    other,
    { type: 'Resizing', status: 'True', lastTransitionTime: expected },
  ]);
});

const resizing = claim({
  phase: 'Bound',
  capacity: { storage: '1Gi' },
  allocatedResources: { storage: '2Gi' },
  allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
  conditions: [{ type: 'Resizing', status: 'True', lastTransitionTime: before }],
});

it("leaves a grown volume's file system to the node, and says so in place of the resizing", () => {
  expect(waitingForNode(resizing, '2Gi', now)).toEqual({
    phase: 'Bound',
    capacity: { storage: '1Gi' },
    allocatedResources: { storage: '2Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
    conditions: [
      {
        type: 'FileSystemResizePending',
        status: 'True',
        message: 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
        lastTransitionTime: now,
      },
    ],
  });
});

it('says the new size of a volume that is grown, and that nothing goes on any more', () => {
  expect(grown(resizing, '2Gi')).toEqual({
    phase: 'Bound',
    capacity: { storage: '2Gi' },
    allocatedResources: { storage: '2Gi' },
    allocatedResourceStatuses: undefined,
    conditions: [],
  });
});
