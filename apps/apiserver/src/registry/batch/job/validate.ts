import type { Job, JobSpec, PodTemplateSpec } from '@tinkernetes/api';
import {
  invalid,
  isDns1123Label,
  mapKey,
  required,
  selectorOf,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { immutable } from '../../immutable';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { isWellFormed, validateTemplateLabels } from '../../pod-spec/selectors';
import type { Errors } from '../../rules';
import { validateJobRules } from './job-rules';

const emptySpec = {} as JobSpec;

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
