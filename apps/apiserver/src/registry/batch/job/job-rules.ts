import type { JobSpec } from '@tinkernetes/api';
import { child, invalid, notSupported, required, tooLong } from '@tinkernetes/apimachinery';
import { validatePodTemplate } from '../../pod-spec/validate';
import { notNegative, oneOf, validateDomainPrefixedPath } from '../../rules';
import type { Errors } from '../../rules';
import { validateFailurePolicy } from './failure-policy';
import { validateSuccessPolicy } from './success-policy';

const counters = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

const mostParallel = 100_000;

const mostFailedIndexes = 100_000;

const manyCompletions = 100_000;

const limitOfMany = 10_000;

const longestManager = 63;

/** Rules that Jobs and the Jobs of a CronJob share. Source: batch/validation.validateJobSpec. */
export function validateJobRules(spec: JobSpec, path: string): Errors {
  const errors: Errors = counters.flatMap((name) => notNegative(child(path, name), spec[name]));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(child(path, 'backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  return [
    ...errors,
    ...validateManager(spec.managedBy, child(path, 'managedBy')),
    ...oneOf(child(path, 'completionMode'), spec.completionMode, ['NonIndexed', 'Indexed']),
    ...validateIndexing(spec, path),
    ...validateFailurePolicy(spec, path),
    ...validateSuccessPolicy(spec, path),
    ...oneOf(
      child(path, 'podReplacementPolicy'),
      spec.podReplacementPolicy,
      spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'],
    ),
    ...validatePodTemplate(spec.template ?? {}, child(path, 'template')),
    ...validateRestartPolicy(spec, path),
  ];
}

function validateManager(manager: string | undefined, path: string): Errors {
  if (manager === undefined) return [];
  return [
    ...validateDomainPrefixedPath(path, manager),
    ...(manager.length > longestManager ? [tooLong(path, longestManager)] : []),
  ];
}

function validateIndexing(spec: JobSpec, path: string): Errors {
  const { completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const at = (name: string) => child(path, name);
  if (spec.completionMode === undefined || spec.completionMode === 'NonIndexed') {
    const detail = 'requires indexed completion mode';
    return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((name) =>
      spec[name] === undefined ? [] : [invalid(at(name), spec[name], detail)],
    );
  }
  if (spec.completionMode !== 'Indexed') return [];
  const errors: Errors = [];
  if (completions === undefined) errors.push(required(at('completions'), 'when completion mode is Indexed'));
  if (parallelism > mostParallel) {
    const detail = `must be less than or equal to ${mostParallel} when completion mode is Indexed`;
    errors.push(invalid(at('parallelism'), parallelism, detail));
  }
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    errors.push(
      invalid(at('maxFailedIndexes'), maxFailedIndexes, 'must be less than or equal to completions'),
    );
  if (maxFailedIndexes !== undefined && maxFailedIndexes > mostFailedIndexes) {
    const detail = `must be less than or equal to ${mostFailedIndexes}`;
    errors.push(invalid(at('maxFailedIndexes'), maxFailedIndexes, detail));
  }
  if (backoffLimitPerIndex === undefined || (completions ?? 0) <= manyCompletions) return errors;
  const detail = `must be less than or equal to ${limitOfMany} when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    const missing = `must be specified when completions is above ${manyCompletions}`;
    errors.push(required(at('maxFailedIndexes'), missing));
  }
  if (parallelism > limitOfMany) errors.push(invalid(at('parallelism'), parallelism, detail));
  if (maxFailedIndexes !== undefined && maxFailedIndexes > limitOfMany)
    errors.push(invalid(at('maxFailedIndexes'), maxFailedIndexes, detail));
  return errors;
}

function validateRestartPolicy(spec: JobSpec, path: string): Errors {
  const policy: string | undefined = spec.template?.spec?.restartPolicy;
  const at = child(path, 'template', 'spec', 'restartPolicy');
  if (!policy || policy === 'Always') return [required(at, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(at, policy, ['OnFailure', 'Never'])];
  return spec.podFailurePolicy && policy !== 'Never'
    ? [invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    : [];
}
