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
type ReplicaStatus = { [K in Counter]?: number } & { observedGeneration?: number; collisionCount?: number };

/** No counter is negative or exceeds what it is part of. Source: apps/validation.ValidateDeploymentStatus and siblings. */
export function validateReplicaStatus(status: ReplicaStatus, counters: readonly Counter[]): Errors {
  const path = (name: string) => `status.${name}`;
  const value = (name: Counter) => status[name] ?? 0;
  const errors: Errors = [
    ...notNegative(path('observedGeneration'), status.observedGeneration),
    ...counters.flatMap((name) => notNegative(path(name), value(name))),
    ...notNegative(path('collisionCount'), status.collisionCount),
  ];
  const parts = counters.filter((name) => name !== 'replicas' && name !== 'unavailableReplicas');
  for (const name of parts) {
    if (value(name) > value('replicas')) {
      errors.push(invalid(path(name), value(name), 'cannot be greater than status.replicas'));
    }
  }
  if (counters.includes('availableReplicas') && value('availableReplicas') > value('readyReplicas')) {
    errors.push(
      invalid(path('availableReplicas'), value('availableReplicas'), 'cannot be greater than readyReplicas'),
    );
  }
  return errors;
}

/** A workload in which nothing is set: the internal types count replicas without a pointer. */
export const withoutReplicas = <T extends { spec?: object }>(object: T): T => ({
  ...object,
  spec: { replicas: 0, ...object.spec },
});
