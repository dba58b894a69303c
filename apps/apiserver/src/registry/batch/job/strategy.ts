import { Jobs } from '@tinkernetes/api';
import { jobCells } from '../../../printers/workloads';
import { isTold, podNameWarnings, templateWarnings } from '../../core/pod/warnings';
import { defineStrategy } from '../../define-strategy';
import { withoutDisabledInTemplate } from '../../pod-spec/disabled-fields';
import { defaultJob, withGeneratedSelector } from './defaults';
import { validateJob, validateJobUpdate } from './validate';

/** Source: k8s.io/kubernetes/pkg/registry/batch/job. */
export const jobStrategy = defineStrategy(Jobs, {
  unspecifiedPropagationWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  withoutDisabledFields: withoutDisabledInTemplate,
  default: defaultJob,
  prepareForCreate: (job) => defaultJob(withGeneratedSelector({ ...job, status: {} })),
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  defaultOrphanDependents: true,
  warnings: (job, old) => [
    ...(old ? [] : podNameWarnings(job)),
    ...(isTold(job, old) ? templateWarnings(job.spec?.template, 'spec.template') : []),
  ],
  selectableFieldNames: ['status.successful'],
  unsupportedField: (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  selectableFields: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
  tableCells: jobCells,
});
