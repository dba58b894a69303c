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

/**
 * A ReplicaSet's annotations when it is the new one: the Deployment's, the revision (an earlier one is kept in the
 * history when an old ReplicaSet becomes the new one again) and the replica counts.
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
    if (previous !== undefined) {
      const history = own[annotations.revisionHistory];
      next[annotations.revisionHistory] = history ? `${history},${previous}` : previous;
    }
  }
  return { ...next, ...replicaAnnotations(deployment) };
}

export function sameAnnotations(a: Record<string, string> | undefined, b: Record<string, string>): boolean {
  const left = a ?? {};
  const keys = Object.keys(b);
  return Object.keys(left).length === keys.length && keys.every((key) => left[key] === b[key]);
}
