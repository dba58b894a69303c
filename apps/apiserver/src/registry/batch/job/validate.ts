import type { Job, JobSpec, PodTemplateSpec } from '@tinkernetes/api';
import { child, invalid, required, semanticEqual } from '@tinkernetes/apimachinery';
import { immutable } from '../../immutable';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { validateSelectedTemplate } from '../../pod-spec/selectors';
import { validatePodTemplate } from '../../pod-spec/validate';
import { eachOf, notNegative, oneOf, requireOneOf } from '../../rules';
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

/** Rules that Jobs and the Jobs of a CronJob share. Source: batch/validation.validateJobSpec. */
export function validateJobRules(spec: JobSpec, path: string): Errors {
  const errors: Errors = counters.flatMap((name) => notNegative(child(path, name), spec[name]));
  errors.push(...oneOf(child(path, 'completionMode'), spec.completionMode, ['Indexed', 'NonIndexed']));
  if (spec.completionMode === 'Indexed') {
    if (spec.completions === undefined) {
      errors.push(required(child(path, 'completions'), 'when completion mode is Indexed'));
    }
  } else {
    const detail = 'requires indexed completion mode';
    if (spec.backoffLimitPerIndex !== undefined) {
      errors.push(invalid(child(path, 'backoffLimitPerIndex'), spec.backoffLimitPerIndex, detail));
    }
    if (spec.maxFailedIndexes !== undefined) {
      errors.push(invalid(child(path, 'maxFailedIndexes'), spec.maxFailedIndexes, detail));
    }
  }
  return [...errors, ...validateRestartPolicy(spec, path), ...validateFailurePolicy(spec, path)];
}

function validateRestartPolicy(spec: JobSpec, path: string): Errors {
  const policy = spec.template?.spec?.restartPolicy;
  const at = child(path, 'template', 'spec', 'restartPolicy');
  if (policy !== 'OnFailure' && policy !== 'Never') {
    return [required(at, 'valid values: "OnFailure", "Never"')];
  }
  return spec.podFailurePolicy && policy !== 'Never'
    ? [invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    : [];
}

function validateFailurePolicy({ podFailurePolicy }: JobSpec, path: string): Errors {
  return eachOf(child(path, 'podFailurePolicy', 'rules'), podFailurePolicy?.rules, (rule, at) => {
    const errors = requireOneOf(child(at, 'action'), rule.action, [
      'Count',
      'FailIndex',
      'FailJob',
      'Ignore',
    ]);
    const hasCodes = rule.onExitCodes !== undefined;
    const hasConditions = (rule.onPodConditions?.length ?? 0) > 0;
    if (hasCodes === hasConditions) {
      const detail = hasCodes
        ? 'specifying both OnExitCodes and OnPodConditions is not supported'
        : 'specifying one of OnExitCodes and OnPodConditions is required';
      errors.push(invalid(at, null, detail));
    }
    if (rule.onExitCodes) {
      errors.push(
        ...requireOneOf(child(at, 'onExitCodes', 'operator'), rule.onExitCodes.operator, ['In', 'NotIn']),
      );
      if (!rule.onExitCodes.values?.length) {
        errors.push(
          invalid(
            child(at, 'onExitCodes', 'values'),
            rule.onExitCodes.values ?? null,
            'at least one value is required',
          ),
        );
      }
    }
    return errors;
  });
}

export function validateJob(job: Job): Errors {
  const spec = job.spec ?? emptySpec;
  const errors = validateJobRules(spec, 'spec');
  if (!spec.selector) errors.push(required('spec.selector'));
  else errors.push(...validateLabelSelector(spec.selector, 'spec.selector'));
  return spec.selector
    ? [...errors, ...validateSelectedTemplate(spec.template, spec.selector)]
    : [...errors, ...validatePodTemplate(spec.template ?? ({} as PodTemplateSpec), 'spec.template')];
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

/** Source: batch/validation.ValidateJobSpecUpdate. */
export function validateJobUpdate(job: Job, old: Job): Errors {
  const spec = job.spec ?? emptySpec;
  const oldSpec = old.spec ?? emptySpec;
  const isOpen = oldSpec.suspend === true && !old.status?.startTime;
  const template = isOpen ? withMutableScheduling(spec.template, oldSpec.template) : spec.template;
  const isTemplateKept = semanticEqual(template, oldSpec.template);
  return [
    ...validateJob(job),
    ...validateCompletions(spec, oldSpec),
    ...immutable('spec.selector', spec.selector, oldSpec.selector),
    ...(isTemplateKept ? [] : immutable('spec.template', spec.template, oldSpec.template)),
    ...immutable('spec.completionMode', spec.completionMode, oldSpec.completionMode),
    ...immutable('spec.podFailurePolicy', spec.podFailurePolicy, oldSpec.podFailurePolicy),
    ...immutable('spec.backoffLimitPerIndex', spec.backoffLimitPerIndex, oldSpec.backoffLimitPerIndex),
    ...immutable('spec.managedBy', spec.managedBy, oldSpec.managedBy),
    ...immutable('spec.successPolicy', spec.successPolicy, oldSpec.successPolicy),
  ];
}
