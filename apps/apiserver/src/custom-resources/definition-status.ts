import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '@tinkernetes/api';
import { deepEqual, findCondition, setCondition } from '@tinkernetes/apimachinery';
import { nameConflict } from './names';

type Status = NonNullable<CustomResourceDefinition['status']>;

/** The status that says whether a definition's names are accepted and its resource is served. */
export function statusOf(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: string,
): Status {
  const before = definition.status ?? {};
  const conflict = nameConflict(definition, others);
  const accepted: CustomResourceDefinitionCondition = conflict
    ? { type: 'NamesAccepted', status: 'False', lastTransitionTime: now, ...conflict }
    : {
        type: 'NamesAccepted',
        status: 'True',
        lastTransitionTime: now,
        reason: 'NoConflicts',
        message: 'no conflicts found',
      };
  let conditions = setCondition(before.conditions, accepted);
  const wasEstablished = findCondition(before.conditions, 'Established')?.status === 'True';
  if (!conflict && !wasEstablished) {
    conditions = setCondition(conditions, {
      type: 'Established',
      status: 'True',
      lastTransitionTime: now,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    });
  } else if (conflict && !wasEstablished) {
    conditions = setCondition(conditions, {
      type: 'Established',
      status: 'False',
      lastTransitionTime: now,
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    });
  }
  const acceptedNames = conflict && before.acceptedNames ? before.acceptedNames : definition.spec.names;
  const storage = definition.spec.versions.find((v) => v.storage)?.name;
  const storedVersions = [...new Set([...(before.storedVersions ?? []), ...(storage ? [storage] : [])])];
  return { ...before, conditions, acceptedNames, storedVersions };
}

/** Serves its resource: established, not yet being deleted. */
export const isEstablished = (definition: CustomResourceDefinition): boolean =>
  findCondition(definition.status?.conditions, 'Established')?.status === 'True';

export const sameStatus = (a: unknown, b: unknown): boolean => deepEqual(a, b);
