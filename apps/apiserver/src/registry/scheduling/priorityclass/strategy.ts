import { PriorityClasses } from '@tinkernetes/api';
import type { PriorityClass } from '@tinkernetes/api';
import { forbidden, invalid } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill } from '../../fill';
import { requireOneOf } from '../../rules';
import type { Errors } from '../../rules';

const maxUserPriority = 1_000_000_000;
const systemClasses: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

function validateName({ metadata, value = 0 }: PriorityClass): Errors {
  const { name } = metadata;
  if (!name.startsWith('system-')) {
    const detail = `maximum allowed value of a user defined priority is ${maxUserPriority}`;
    return value > maxUserPriority ? [forbidden('value', detail)] : [];
  }
  const known = Object.hasOwn(systemClasses, name) ? systemClasses[name] : undefined;
  const reserved = "priority class names with 'system-' prefix are reserved for system use only. error: ";
  if (known === undefined) {
    return [forbidden('metadata.name', `${reserved}${name} is not a known system priority class`)];
  }
  return known === value
    ? []
    : [forbidden('metadata.name', `${reserved}value of ${name} PriorityClass must be ${known}`)];
}

const policies = ['PreemptLowerPriority', 'Never'];

/** Source: k8s.io/kubernetes/pkg/registry/scheduling/priorityclass. */
export const priorityClassStrategy = defineStrategy(PriorityClasses, {
  hasGeneration: true,
  changesGeneration: () => false,
  default: (object) => fill(object, { preemptionPolicy: 'PreemptLowerPriority' }),
  validate: (object) => [
    ...validateName(object),
    ...requireOneOf('preemptionPolicy', object.preemptionPolicy, policies),
  ],
  validateUpdate: (object, old) => [
    ...(object.value === old.value ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...(object.preemptionPolicy === old.preemptionPolicy
      ? []
      : [invalid('preemptionPolicy', object.preemptionPolicy, 'field is immutable')]),
  ],
  tableCells: (object, now) => [
    object.metadata.name,
    object.value,
    object.globalDefault ?? false,
    age(object, now),
    object.preemptionPolicy ?? '',
  ],
});
