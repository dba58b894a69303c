import type { Deployment, ReplicaSet } from '@tinkernetes/api';
import { revisionOf } from './annotations';
import { findNewReplicaSet } from './pod-template-hash';

/** A Deployment with its ReplicaSets as they are while one reconcile goes on: writes put in what they were answered. */
export interface Rollout {
  deployment: Deployment;
  /** All that exist, the new one included. */
  all: ReplicaSet[];
  /** The one of the Deployment's template. */
  next: ReplicaSet | undefined;
  old: ReplicaSet[];
}

export function rolloutOf(deployment: Deployment, all: readonly ReplicaSet[]): Rollout {
  const next = findNewReplicaSet(deployment.spec.template, all);
  return { deployment, all: [...all], next, old: all.filter((set) => set !== next) };
}

/** Puts in a ReplicaSet as it is after a write. */
export function replaceIn(rollout: Rollout, updated: ReplicaSet): void {
  const replace = (set: ReplicaSet) => (set.metadata.uid === updated.metadata.uid ? updated : set);
  rollout.all = rollout.all.map(replace);
  rollout.old = rollout.old.map(replace);
  if (rollout.next) rollout.next = replace(rollout.next);
}

export const latestOf = (sets: readonly ReplicaSet[]): ReplicaSet | undefined =>
  [...sets].sort((a, b) => revisionOf(b) - revisionOf(a))[0];

export const byName = (sets: readonly ReplicaSet[], name: string): ReplicaSet | undefined =>
  sets.find((set) => set.metadata.name === name);

/** Of a Deployment, for traces. */
export const objectOf = ({ metadata: { namespace, name, uid } }: Deployment) => ({
  kind: 'Deployment',
  namespace,
  name,
  uid,
});
