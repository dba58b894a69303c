import type { Pod, StatefulSet } from '@tinkernetes/api';
import { isPodAvailable, isPodReady, scaledValue } from '@tinkernetes/apimachinery';
import { hasIdentity, ordinalOf, revisionOfPod, startOrdinal } from './identity';

export type Action =
  | { do: 'create'; ordinal: number; revision: 'current' | 'update' }
  /** Its labels say no longer which member it is. */
  | { do: 'identify'; pod: Pod }
  /** Its claims may have been deleted while it waited for them. */
  | { do: 'claim'; ordinal: number }
  | { do: 'delete'; pod: Pod };

export interface PlanInput {
  set: StatefulSet;
  /** All Pods that the set controls. */
  pods: readonly Pod[];
  updateRevision: string;
  now: number;
}

export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isPodReady(pod);
const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;
const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';

/**
 * What to do now. OrderedReady does one thing at a time and waits for every Pod before the next, so that a bad rollout
 * stays where it is even after its template was reverted; Parallel waits for none. Pods are only replaced by an update
 * when all ordinals are filled. Source: k8s.io/kubernetes/pkg/controller/statefulset updateStatefulSet.
 */
export function planActions({ set, pods, updateRevision, now }: PlanInput): Action[] {
  if (set.metadata.deletionTimestamp) return [];
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  const isAvailable = (pod: Pod) =>
    isRunningAndReady(pod) && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  const first = startOrdinal(set);
  const wanted = Array.from({ length: set.spec.replicas ?? 1 }, (_, i) => first + i);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod.metadata.name) ?? -1, pod]));
  const actions: Action[] = [];

  for (const ordinal of wanted) {
    const pod = byOrdinal.get(ordinal);
    // One that has ended goes first: the next takes its name once it is gone.
    const ended = pod !== undefined && isFinished(pod);
    if (ended && !isTerminating(pod)) actions.push({ do: 'delete', pod });
    if (!pod) actions.push({ do: 'create', ordinal, revision: revisionFor(set, ordinal) });
    if (pod?.status?.phase === 'Pending') actions.push({ do: 'claim', ordinal });
    const waits = !pod || ended || isTerminating(pod) || !isAvailable(pod);
    if (isOrdered && waits) return actions;
    if (pod && !ended && !hasIdentity(pod)) actions.push({ do: 'identify', pod });
  }

  const condemned = pods
    .filter((pod) => !wanted.includes(ordinalOf(set, pod.metadata.name) ?? -1))
    .sort((a, b) => (ordinalOf(set, b.metadata.name) ?? 0) - (ordinalOf(set, a.metadata.name) ?? 0));
  const firstUnavailable = [...condemned].reverse().find((pod) => isTerminating(pod) || !isAvailable(pod));
  for (const pod of condemned) {
    if (isTerminating(pod)) {
      if (isOrdered) return actions;
      continue;
    }
    // Of several that serve nobody, the others wait for the first.
    if (isOrdered && !isAvailable(pod) && pod !== firstUnavailable) return actions;
    actions.push({ do: 'delete', pod });
    if (isOrdered) return actions;
  }

  if (set.spec.updateStrategy?.type === 'OnDelete') return actions;
  return [...actions, ...planUpdate({ set, byOrdinal, wanted, updateRevision, isAvailable })];
}

interface UpdateInput {
  set: StatefulSet;
  byOrdinal: ReadonlyMap<number, Pod>;
  wanted: readonly number[];
  updateRevision: string;
  isAvailable(pod: Pod): boolean;
}

/** How many of so many Pods may be away at a time. */
export const maxUnavailableOf = ({ spec }: StatefulSet, replicas: number): number =>
  Math.max(1, scaledValue(spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicas, 'down'));

/**
 * From the highest ordinal down to the partition: one after the other, or, where maxUnavailable is given, as many as
 * it leaves besides all that are away already.
 */
function planUpdate({ set, byOrdinal, wanted, updateRevision, isAvailable }: UpdateInput): Action[] {
  const { partition = 0, maxUnavailable } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const isAway = (pod: Pod | undefined) => !pod || isTerminating(pod) || !isAvailable(pod);
  const isOld = (pod: Pod | undefined): pod is Pod =>
    pod !== undefined && !isFinished(pod) && !isTerminating(pod) && revisionOfPod(pod) !== updateRevision;
  const targets = wanted
    .filter((ordinal) => ordinal >= startOrdinal(set) + partition)
    .reverse()
    .map((ordinal) => byOrdinal.get(ordinal));
  const remove = (pod: Pod): Action => ({ do: 'delete', pod });
  if (maxUnavailable === undefined) {
    const next = targets.find((pod) => isOld(pod) || isAway(pod));
    return isOld(next) ? [remove(next)] : [];
  }
  const away = wanted.filter((ordinal) => isAway(byOrdinal.get(ordinal))).length;
  const room = Math.max(0, maxUnavailableOf(set, wanted.length) - away);
  return targets.filter(isOld).slice(0, room).map(remove);
}

/** New Pods below the partition come at the current revision, others at the update revision. */
function revisionFor(set: StatefulSet, ordinal: number): 'current' | 'update' {
  const { updateStrategy } = set.spec;
  if (updateStrategy?.type === 'OnDelete') return 'update';
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
  return ordinal < startOrdinal(set) + partition ? 'current' : 'update';
}
