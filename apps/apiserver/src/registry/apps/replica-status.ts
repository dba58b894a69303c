import { invalid } from '@tinkernetes/apimachinery';
import { notNegative } from '../rules';
import type { Errors } from '../rules';

type Counter =
  | 'replicas'
  | 'updatedReplicas'
  | 'readyReplicas'
  | 'availableReplicas'
  | 'unavailableReplicas'
  | 'fullyLabeledReplicas'
  | 'currentReplicas';
interface ReplicaStatus extends Partial<Record<Counter, number>> {
  observedGeneration?: number;
  collisionCount?: number;
  terminatingReplicas?: number;
}

/** Upstream looks at a Deployment's generation first, and calls a StatefulSet's ready replicas by their path. */
interface StatusWords {
  readonly isGenerationFirst?: boolean;
  readonly readyName?: string;
}

/** No counter is negative or exceeds what it is part of. Source: apps/validation.ValidateDeploymentStatus and siblings. */
export function validateReplicaStatus(
  status: ReplicaStatus,
  counters: readonly Counter[],
  { isGenerationFirst = false, readyName = 'readyReplicas' }: StatusWords = {},
): Errors {
  const path = (name: string) => `status.${name}`;
  const value = (name: Counter) => status[name] ?? 0;
  const generation = notNegative(path('observedGeneration'), status.observedGeneration);
  const errors: Errors = [
    ...(isGenerationFirst ? generation : []),
    ...counters.flatMap((name) => notNegative(path(name), value(name))),
    ...(isGenerationFirst ? [] : generation),
    ...notNegative(path('terminatingReplicas'), status.terminatingReplicas),
    ...notNegative(path('collisionCount'), status.collisionCount),
  ];
  const parts = counters.filter((name) => name !== 'replicas' && name !== 'unavailableReplicas');
  for (const name of parts) {
    if (value(name) > value('replicas')) {
      errors.push(invalid(path(name), value(name), 'cannot be greater than status.replicas'));
    }
  }
  const available = value('availableReplicas');
  if (counters.includes('availableReplicas') && available > value('readyReplicas'))
    errors.push(invalid(path('availableReplicas'), available, `cannot be greater than ${readyName}`));
  return errors;
}

/** A workload in which nothing is set: the internal types count replicas without a pointer. */
export const withoutReplicas = <T extends { spec?: object }>(object: T): T => ({
  ...object,
  spec: { replicas: 0, ...object.spec },
});
