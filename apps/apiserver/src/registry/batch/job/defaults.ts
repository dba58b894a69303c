import type { Job, JobSpec } from '@tinkernetes/api';
import { fill, mapList, mapMember } from '../../fill';
import { defaultPodTemplate } from '../../pod-spec/defaults';

const unlimited = 2_147_483_647;

function defaultSpec(given: JobSpec): JobSpec {
  const spec = mapMember(given, 'template', defaultPodTemplate);
  const isSingle = spec.completions === undefined && spec.parallelism === undefined;
  const withFailurePolicy = mapMember(spec, 'podFailurePolicy', (policy) => ({
    ...policy,
    rules: mapList(policy.rules ?? [], (rule) =>
      mapMember(rule, 'onPodConditions', (conditions) =>
        mapList(conditions, (condition) => (condition.status ? condition : { ...condition, status: 'True' })),
      ),
    ),
  }));
  return fill(withFailurePolicy, {
    ...(isSingle ? { completions: 1 } : {}),
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : unlimited,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed',
  });
}

/** Source: pkg/apis/batch/v1.SetDefaults_Job. */
export function defaultJob(job: Job): Job {
  const result = mapMember(job, 'spec', defaultSpec);
  const labels = result.spec?.template?.metadata?.labels;
  const isUnlabelled = Object.keys(result.metadata.labels ?? {}).length === 0;
  return isUnlabelled && labels && Object.keys(labels).length > 0
    ? { ...result, metadata: { ...result.metadata, labels } }
    : result;
}

/** The selector that finds this Job's Pods only, unless the user brings one. Source: job strategy.generateSelector. */
export function withGeneratedSelector(job: Job): Job {
  const { spec, metadata } = job;
  if (!spec || spec.manualSelector) return job;
  const uid = metadata.uid ?? '';
  const { template } = spec;
  const generated = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': metadata.name,
    'controller-uid': uid,
    'job-name': metadata.name,
  };
  const labels = { ...generated, ...template.metadata?.labels };
  const selected = spec.selector?.matchLabels ?? {};
  // Labels that came from the template are the template's, with what is generated into it.
  const isFromTemplate = metadata.labels !== undefined && metadata.labels === template.metadata?.labels;
  return {
    ...job,
    metadata: isFromTemplate ? { ...metadata, labels } : metadata,
    spec: {
      ...spec,
      selector: {
        ...spec.selector,
        matchLabels: Object.fromEntries(
          Object.entries({ 'batch.kubernetes.io/controller-uid': uid, ...selected }).sort(([a], [b]) =>
            a < b ? -1 : 1,
          ),
        ),
      },
      template: { ...template, metadata: { ...template.metadata, labels } } as typeof template,
    },
  };
}
