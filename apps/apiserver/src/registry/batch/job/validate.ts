import type { Job, JobSpec, PodTemplateSpec } from '@tinkernetes/api';
import {
  child,
  duplicate,
  invalid,
  isDns1123Label,
  isQualifiedName,
  mapKey,
  notSupported,
  required,
  selectorOf,
  semanticEqual,
  tooLong,
  tooMany,
} from '@tinkernetes/apimachinery';
import { immutable } from '../../immutable';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { isWellFormed, validateTemplateLabels } from '../../pod-spec/selectors';
import { validatePodTemplate } from '../../pod-spec/validate';
import { check, eachOf, notNegative, oneOf, validateDomainPrefixedPath } from '../../rules';
import type { Errors } from '../../rules';

const emptySpec = {} as JobSpec;
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

/** One of the values; missing: which there are, as Go prints a list of strings. */
function requireNamed(path: string, value: string | undefined, values: readonly string[]): Errors {
  const list = `[${values.map((name) => JSON.stringify(name)).join(' ')}]`;
  return value ? oneOf(path, value, values) : [required(path, `valid values: ${list}`)];
}

function validateFailurePolicy(spec: JobSpec, path: string): Errors {
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

function validateSuccessPolicy(spec: JobSpec, path: string): Errors {
  const { successPolicy, completions = 0 } = spec;
  if (!successPolicy) return [];
  const policyPath = child(path, 'successPolicy');
  const rules = successPolicy.rules ?? [];
  if (spec.completionMode !== 'Indexed') {
    const shown = {
      Rules: rules.map(({ succeededIndexes, succeededCount }) => ({
        SucceededIndexes: succeededIndexes ?? null,
        SucceededCount: succeededCount ?? null,
      })),
    };
    return [invalid(policyPath, shown, 'requires indexed completion mode')];
  }
  const at = child(policyPath, 'rules');
  const errors: Errors = [];
  if (rules.length === 0) {
    const detail = 'at least one rules must be specified when the successPolicy is specified';
    errors.push(required(at, detail));
  }
  if (rules.length > 20) errors.push(tooMany(at, rules.length, 20));
  return [
    ...errors,
    ...eachOf(at, rules, (rule, rulePath) => validateSuccessRule(rule, rulePath, completions)),
  ];
}

function validateSuccessRule(
  { succeededIndexes, succeededCount }: { succeededIndexes?: string; succeededCount?: number },
  path: string,
  completions: number,
): Errors {
  const errors: Errors = [];
  if (succeededCount === undefined && succeededIndexes === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  const parsed = countIndexes(succeededIndexes ?? '', completions);
  if (parsed.problem !== undefined) {
    const detail = `error parsing succeededIndexes: ${parsed.problem}`;
    errors.push(invalid(child(path, 'succeededIndexes'), succeededIndexes, detail));
  }
  if (succeededCount === undefined) return errors;
  const at = child(path, 'succeededCount');
  errors.push(...notNegative(at, succeededCount));
  const atMost = (most: number, what: string) =>
    invalid(at, succeededCount, `must be less than or equal to ${most} (${what})`);
  if (succeededCount > completions) errors.push(atMost(completions, 'the number of specified completions'));
  if (succeededIndexes !== undefined && succeededCount > parsed.count) {
    const what = 'the number of indexes in the specified succeededIndexes field';
    errors.push(atMost(parsed.count, what));
  }
  return errors;
}

/** How many indexes `1,3-5` names. Source: batch/validation.validateIndexesFormat. */
function countIndexes(text: string, completions: number): { count: number; problem?: string } {
  let count = 0;
  let last: number | undefined;
  if (text === '') return { count };
  for (const interval of text.split(',')) {
    const limits = interval.split('-');
    if (limits.length > 2) {
      const problem = `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`;
      return { count: 0, problem };
    }
    for (const limit of limits) {
      const quoted = JSON.stringify(limit);
      if (!/^[+-]?\d+$/.test(limit))
        return { count: 0, problem: `cannot convert string to integer for index: ${quoted}` };
      if (Number(limit) >= completions) return { count: 0, problem: `too large index: ${quoted}` };
    }
    const [from = 0, to = from] = limits.map(Number);
    const previous = limits.length > 1 && from >= to ? [from, to] : undefined;
    const order = previous ?? (last !== undefined && last >= from ? [last, from] : undefined);
    if (order) {
      const problem = `non-increasing order, previous: ${order[0]}, current: ${order[1]}`;
      return { count: 0, problem };
    }
    count += to - from + 1;
    last = to;
  }
  return { count };
}

/** The labels that make a generated selector find this Job's Pods only. */
function validateGeneratedSelector({ metadata, spec }: Job): Errors {
  if (!spec?.selector || spec.manualSelector) return [];
  const labels = spec.template?.metadata?.labels ?? {};
  const { uid = '', name } = metadata;
  const expected: Readonly<Record<string, string>> = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  };
  const errors: Errors = Object.entries(expected).flatMap(([key, value]) => {
    const at = mapKey('spec.template.metadata.labels', key);
    const given = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (given === undefined) return [required(at, `must be '${value}'`)];
    // Upstream shows all labels, not the one that is wrong.
    return given === value ? [] : [invalid(at, labels, `must be '${value}'`)];
  });
  const isWrong = isWellFormed(spec.selector) && !selectorOf(spec.selector).matches(expected);
  return isWrong
    ? [...errors, invalid('spec.selector', spec.selector, '`selector` not auto-generated')]
    : errors;
}

/** The last Pod's host name is the Job's with the index behind it. */
function validateIndexedName({ metadata, spec }: Job): Errors {
  if (spec?.completionMode !== 'Indexed' || !((spec.completions ?? 0) > 0)) return [];
  const longest = `${metadata.name}-${(spec.completions ?? 0) - 1}`;
  return isDns1123Label(longest).length === 0
    ? []
    : [
        invalid(
          'metadata.name',
          metadata.name,
          `will not able to create pod with invalid DNS label: ${longest}`,
        ),
      ];
}

export const validateJob = (job: Job): Errors => [
  ...validateGeneratedSelector(job),
  ...validateJobSpec(job.spec ?? emptySpec),
  ...validateIndexedName(job),
];

/** Source: batch/validation.ValidateJobSpec. */
function validateJobSpec(spec: JobSpec): Errors {
  return [
    ...validateJobRules(spec, 'spec'),
    ...(spec.selector ? validateLabelSelector(spec.selector, 'spec.selector') : [required('spec.selector')]),
    ...validateTemplateLabels(spec.template ?? {}, spec.selector, 'spec.template'),
  ];
}

/** Completions may only follow parallelism, in Indexed Jobs (KEP-3715). */
function validateCompletions(spec: JobSpec, old: JobSpec): Errors {
  if (spec.completions === old.completions) return [];
  const isElastic = spec.completionMode === 'Indexed' && old.completions !== undefined;
  if (!isElastic) return immutable('spec.completions', spec.completions, old.completions);
  return spec.completions === spec.parallelism
    ? []
    : [invalid('spec.completions', spec.completions, `can only be modified in tandem with spec.parallelism`)];
}

/** While a Job is suspended and has not started, where its Pods go may still be decided (KEP-2926). */
function withMutableScheduling(template: PodTemplateSpec, old: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, affinity, tolerations, schedulingGates } = old.spec ?? {};
  return {
    ...template,
    metadata: { ...template.metadata, labels: old.metadata?.labels, annotations: old.metadata?.annotations },
    spec: template.spec && { ...template.spec, nodeSelector, affinity, tolerations, schedulingGates },
  } as PodTemplateSpec;
}

/** Of a Job that is still open, only the Pods' specification counts. */
const templateError = (template: PodTemplateSpec, old: PodTemplateSpec, isOpen: boolean): Errors =>
  isOpen
    ? immutable('spec.template.spec', template.spec, old.spec, 'PodSpec')
    : immutable('spec.template', template, old, 'PodTemplateSpec');

/** Source: batch/validation.ValidateJobSpecUpdate. */
export function validateJobUpdate(job: Job, old: Job): Errors {
  const spec = job.spec ?? emptySpec;
  const oldSpec = old.spec ?? emptySpec;
  const isOpen = oldSpec.suspend === true && !old.status?.startTime;
  const template = isOpen ? withMutableScheduling(spec.template, oldSpec.template) : spec.template;
  const isTemplateKept = semanticEqual(template, oldSpec.template);
  return [
    ...validateJob(job),
    // Upstream validates the whole and then, with what may not change, the specification once more.
    ...validateJobSpec(spec),
    ...validateCompletions(spec, oldSpec),
    ...immutable('spec.selector', spec.selector, oldSpec.selector),
    ...(isTemplateKept ? [] : templateError(spec.template, oldSpec.template, isOpen)),
    ...immutable('spec.completionMode', spec.completionMode, oldSpec.completionMode),
    ...immutable(
      'spec.podFailurePolicy',
      spec.podFailurePolicy,
      oldSpec.podFailurePolicy,
      'PodFailurePolicy',
    ),
    ...immutable('spec.backoffLimitPerIndex', spec.backoffLimitPerIndex, oldSpec.backoffLimitPerIndex),
    ...immutable('spec.managedBy', spec.managedBy, oldSpec.managedBy),
    ...immutable('spec.successPolicy', spec.successPolicy, oldSpec.successPolicy, 'SuccessPolicy'),
  ];
}
