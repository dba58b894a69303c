import type { Pod, StatefulSet } from '@tinkernetes/api';
import { isPodAvailable, isPodReady, scaledValue } from '@tinkernetes/apimachinery';
import { ordinalOf, revisionOfPod, startOrdinal } from './identity';

export type Action =
  | { do: 'create'; ordinal: number; revision: 'current' | 'update' }
  | { do: 'delete'; pod: Pod; because: 'finished' | 'condemned' | 'update' };

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
    const finished = pod && isFinished(pod) && !isTerminating(pod);
    if (pod && finished) actions.push({ do: 'delete', pod, because: 'finished' });
    if (!pod || finished) actions.push({ do: 'create', ordinal, revision: revisionFor(set, ordinal) });
    const waits = !pod || finished || isTerminating(pod) || !isAvailable(pod);
    if (isOrdered && waits) return actions;
  }

  const condemned = pods
    .filter((pod) => !wanted.includes(ordinalOf(set, pod.metadata.name) ?? -1))
    .sort((a, b) => (ordinalOf(set, b.metadata.name) ?? 0) - (ordinalOf(set, a.metadata.name) ?? 0));
  for (const pod of condemned) {
    if (isTerminating(pod)) {
      if (isOrdered) return actions;
      continue;
    }
    actions.push({ do: 'delete', pod, because: 'condemned' });
    if (isOrdered) return actions;
  }

  if (set.spec.updateStrategy?.type === 'OnDelete') return actions;
  const created = new Set(actions.flatMap((a) => (a.do === 'create' ? [a.ordinal] : [])));
  return [...actions, ...planUpdate({ set, byOrdinal, created, wanted, updateRevision, isAvailable })];
}

interface UpdateInput {
  set: StatefulSet;
  byOrdinal: ReadonlyMap<number, Pod>;
  created: ReadonlySet<number>;
  wanted: readonly number[];
  updateRevision: string;
  isAvailable(pod: Pod): boolean;
}

/** How many of so many Pods may be away at a time. */
export const maxUnavailableOf = ({ spec }: StatefulSet, replicas: number): number =>
  Math.max(1, scaledValue(spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicas, 'up'));

/** From the highest ordinal down to the partition, at most maxUnavailable (1) Pods away at a time. */
function planUpdate({ set, byOrdinal, created, wanted, updateRevision, isAvailable }: UpdateInput): Action[] {
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const allowed = maxUnavailableOf(set, wanted.length);
  const targets = wanted.filter((ordinal) => ordinal >= startOrdinal(set) + partition).reverse();
  const actions: Action[] = [];
  let away = 0;
  for (const ordinal of targets) {
    if (away >= allowed) break;
    const pod = byOrdinal.get(ordinal);
    if (pod && !created.has(ordinal) && revisionOfPod(pod) !== updateRevision && !isTerminating(pod)) {
      actions.push({ do: 'delete', pod, because: 'update' });
      away++;
    } else if (!pod || isTerminating(pod) || !isAvailable(pod)) away++;
  }
  return actions;
}

/** New Pods below the partition come at the current revision, others at the update revision. */
function revisionFor(set: StatefulSet, ordinal: number): 'current' | 'update' {
  const { updateStrategy } = set.spec;
  if (updateStrategy?.type === 'OnDelete') return 'update';
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
  return ordinal < startOrdinal(set) + partition ? 'current' : 'update';
}
