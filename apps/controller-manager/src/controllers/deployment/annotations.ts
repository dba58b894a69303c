import type { Deployment, ReplicaSet } from '@tinkernetes/api';
import { resolveFenceposts } from './rolling-update';

export const annotations = {
  revision: 'deployment.kubernetes.io/revision',
  revisionHistory: 'deployment.kubernetes.io/revision-history',
  desiredReplicas: 'deployment.kubernetes.io/desired-replicas',
  maxReplicas: 'deployment.kubernetes.io/max-replicas',
  lastApplied: 'kubectl.kubernetes.io/last-applied-configuration',
} as const;

/** Not copied from a Deployment to its ReplicaSets. */
const ownOfDeployment: ReadonlySet<string> = new Set([
  ...Object.values(annotations),
  'deprecated.deployment.rollback.to',
]);

export const revisionOf = (
  object: { metadata: { annotations?: Record<string, string> } } | undefined,
): number => Number(object?.metadata.annotations?.[annotations.revision] ?? 0) || 0;

export const maxRevision = (sets: readonly ReplicaSet[]): number => Math.max(0, ...sets.map(revisionOf));

/** `desired-replicas` and `max-replicas`: what later proportional scaling goes by. */
export function replicaAnnotations(deployment: Deployment): Record<string, string> {
  const replicas = deployment.spec.replicas ?? 1;
  return {
    [annotations.desiredReplicas]: String(replicas),
    [annotations.maxReplicas]: String(replicas + resolveFenceposts(deployment.spec).surge),
  };
}

/** How long the list of a ReplicaSet's earlier revisions may become: about 100 of them. */
const historyLimit = 2000;

/**
 * A ReplicaSet's annotations when it is the new one: the Deployment's, and the revision (an earlier one is kept in the
 * history when an old ReplicaSet becomes the new one again). The replica counts are those of its last change of size.
 */
export function newReplicaSetAnnotations(
  deployment: Deployment,
  set: ReplicaSet | undefined,
  revision: number,
): Record<string, string> {
  const own = set?.metadata.annotations ?? {};
  const copied = Object.fromEntries(
    Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !ownOfDeployment.has(key)),
  );
  const previous = own[annotations.revision];
  const next: Record<string, string> = { ...own, ...copied };
  if (previous === undefined || Number(previous) < revision) {
    next[annotations.revision] = String(revision);
    if (previous !== undefined)
      next[annotations.revisionHistory] = historyWith(own[annotations.revisionHistory], previous);
  }
  return set ? next : { ...next, ...replicaAnnotations(deployment) };
}

/** The oldest revisions make room where the list becomes too long. */
function historyWith(history: string | undefined, revision: string): string {
  const revisions = [...(history ? history.split(',') : []), revision];
  while (revisions.join(',').length > historyLimit) revisions.shift();
  return revisions.join(',');
}

export function sameAnnotations(a: Record<string, string> | undefined, b: Record<string, string>): boolean {
  const left = a ?? {};
  const keys = Object.keys(b);
  return Object.keys(left).length === keys.length && keys.every((key) => left[key] === b[key]);
}
