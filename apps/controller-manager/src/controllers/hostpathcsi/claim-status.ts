import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from '@tinkernetes/api';

type Condition = NonNullable<PersistentVolumeClaimStatus['conditions']>[number];
export type Status = PersistentVolumeClaimStatus;

/** The driver will answer the same however often it is asked. */
const infeasible: ReadonlySet<string> = new Set(['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND']);
export const isInfeasible = (error: unknown): boolean =>
  infeasible.has((error as { code?: unknown }).code as string);

/** A bound claim whose class of attributes is not the one that its volume has. */
export const wantsToChange = ({ spec, status }: PersistentVolumeClaim): boolean =>
  status?.phase === 'Bound' &&
  Boolean(spec.volumeAttributesClassName) &&
  spec.volumeAttributesClassName !== status.currentVolumeAttributesClassName;

export const withoutConditions = ({ status }: PersistentVolumeClaim, ...types: string[]): Condition[] =>
  (status?.conditions ?? []).filter(({ type }) => !types.includes(type));
/** The conditions with one put in: its time stays while its status does. */
export const withCondition = (claim: PersistentVolumeClaim, condition: Condition): Condition[] => {
  const known = claim.status?.conditions?.find(({ type }) => type === condition.type);
  const lastTransitionTime =
    known?.status === condition.status ? known.lastTransitionTime : condition.lastTransitionTime;
  return [...withoutConditions(claim, condition.type), { ...condition, lastTransitionTime }];
};

/** The driver's part is done; the file system is the kubelet's. */
export const waitingForNode = (
  claim: PersistentVolumeClaim,
  storage: string | number,
  now: string,
): Status => ({
  ...claim.status,
  allocatedResources: { ...claim.status?.allocatedResources, storage },
  allocatedResourceStatuses: { storage: 'NodeResizePending' },
  conditions: withCondition(
    { ...claim, status: { ...claim.status, conditions: withoutConditions(claim, 'Resizing') } },
    {
      type: 'FileSystemResizePending',
      status: 'True',
      message: 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
      lastTransitionTime: now,
    },
  ),
});

/** Nothing is left to do for the kubelet. */
export const grown = (claim: PersistentVolumeClaim, storage: string): Status => ({
  ...claim.status,
  capacity: { ...claim.status?.capacity, storage },
  allocatedResourceStatuses: undefined,
  conditions: withoutConditions(claim, 'Resizing', 'FileSystemResizePending'),
});
