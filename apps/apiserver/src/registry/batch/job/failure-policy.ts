import type { JobSpec } from '@tinkernetes/api';
import { child, duplicate, invalid, isQualifiedName, required, tooMany } from '@tinkernetes/apimachinery';
import { check, eachOf, oneOf } from '../../rules';
import type { Errors } from '../../rules';

/** One of the values; missing: which there are, as Go prints a list of strings. */
function requireNamed(path: string, value: string | undefined, values: readonly string[]): Errors {
  const list = `[${values.map((name) => JSON.stringify(name)).join(' ')}]`;
  return value ? oneOf(path, value, values) : [required(path, `valid values: ${list}`)];
}

export function validateFailurePolicy(spec: JobSpec, path: string): Errors {
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {};
  const names = [...containers, ...initContainers].map(({ name }) => name);
  const rules = spec.podFailurePolicy?.rules ?? [];
  const at = child(path, 'podFailurePolicy', 'rules');
  return [
    ...(rules.length > 20 ? [tooMany(at, rules.length, 20)] : []),
    ...eachOf(at, rules, (rule, rulePath) => validateFailureRule(rule, rulePath, { spec, names })),
  ];
}

type FailureRule = NonNullable<JobSpec['podFailurePolicy']>['rules'][number];

function validateFailureRule(
  rule: FailureRule,
  path: string,
  { spec, names }: { spec: JobSpec; names: readonly string[] },
): Errors {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  const actionPath = child(path, 'action');
  const errors =
    action === 'FailIndex' && spec.backoffLimitPerIndex === undefined
      ? [invalid(actionPath, action, 'requires the backoffLimitPerIndex to be set')]
      : requireNamed(actionPath, action, ['Count', 'FailIndex', 'FailJob', 'Ignore']);
  if (onExitCodes) errors.push(...validateExitCodes(onExitCodes, child(path, 'onExitCodes'), names));
  errors.push(
    ...eachOf(child(path, 'onPodConditions'), onPodConditions, ({ type, status }, at) => [
      ...check(child(at, 'type'), type, isQualifiedName),
      ...requireNamed(child(at, 'status'), status, ['False', 'True', 'Unknown']),
    ]),
  );
  const hasConditions = onPodConditions.length > 0;
  if ((onExitCodes !== undefined) === hasConditions) {
    const detail = hasConditions
      ? 'specifying both OnExitCodes and OnPodConditions is not supported'
      : 'specifying one of OnExitCodes and OnPodConditions is required';
    errors.push({ reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${detail}` });
  }
  return errors;
}

function validateExitCodes(
  { operator, containerName, values = [] }: NonNullable<FailureRule['onExitCodes']>,
  path: string,
  names: readonly string[],
): Errors {
  const errors = requireNamed(child(path, 'operator'), operator, ['In', 'NotIn']);
  if (containerName !== undefined && !names.includes(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalid(child(path, 'containerName'), containerName, detail));
  }
  const at = child(path, 'values');
  if (values.length === 0) errors.push(invalid(at, null, 'at least one value is required'));
  if (values.length > 255) errors.push(tooMany(at, values.length, 255));
  errors.push(
    ...eachOf(at, values, (value, valuePath, i) => [
      ...(operator === 'In' && value === 0
        ? [invalid(valuePath, value, 'must not be 0 for the In operator')]
        : []),
      ...(values.indexOf(value) < i ? [duplicate(valuePath, value)] : []),
    ]),
  );
  const isOrdered = values.every((value, i) => i === 0 || (values[i - 1] ?? value) <= value);
  return isOrdered ? errors : [...errors, invalid(at, values, 'must be ordered')];
}
