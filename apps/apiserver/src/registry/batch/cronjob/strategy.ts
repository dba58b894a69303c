import { CronJobs } from '@tinkernetes/api';
import type { CronJob } from '@tinkernetes/api';
import { invalid, notSupported, required } from '@tinkernetes/apimachinery';
import { cronJobCells } from '../../../printers/workloads';
import { isTold, podNameWarnings, templateWarnings } from '../../core/pod/warnings';
import { defineStrategy } from '../../define-strategy';
import { withoutDisabledInTemplate } from '../../pod-spec/disabled-fields';
import { fill, mapMember } from '../../fill';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { notNegative, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';
import { validateJobRules } from '../job/job-rules';
import { isKnownTimeZone, scheduleProblem } from './schedule';

/** Jobs are named after their CronJob, with a time behind it. */
const maxNameLength = 52;

function validateSchedule(schedule: string | undefined): Errors {
  if (!schedule) return [required('spec.schedule')];
  if (schedule.includes('TZ')) {
    return [
      invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    ];
  }
  const problem = scheduleProblem(schedule);
  return problem ? [invalid('spec.schedule', schedule, problem)] : [];
}

function validateTimeZone(zone: string | undefined): Errors {
  if (zone === undefined) return [];
  if (zone === '') return [invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string')];
  return isKnownTimeZone(zone) ? [] : [invalid('spec.timeZone', zone, `unknown time zone ${zone}`)];
}

function validate({ spec }: CronJob): Errors {
  const job = spec?.jobTemplate?.spec;
  return [
    ...validateSchedule(spec?.schedule),
    ...notNegative('spec.startingDeadlineSeconds', spec?.startingDeadlineSeconds),
    ...validateTimeZone(spec?.timeZone),
    ...requireOneOf('spec.concurrencyPolicy', spec?.concurrencyPolicy, ['Allow', 'Forbid', 'Replace']),
    ...(job ? validateJobRules(job, 'spec.jobTemplate.spec') : []),
    ...(job?.selector
      ? [invalid('spec.jobTemplate.spec.selector', job.selector, '`selector` will be auto-generated')]
      : []),
    ...(job?.manualSelector
      ? [notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false'])]
      : []),
    ...notNegative('spec.successfulJobsHistoryLimit', spec?.successfulJobsHistoryLimit),
    ...notNegative('spec.failedJobsHistoryLimit', spec?.failedJobsHistoryLimit),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/batch/cronjob. */
export const cronJobStrategy = defineStrategy(CronJobs, {
  checksMetaOnStatus: false,
  withoutDisabledFields: (job) =>
    mapMember(job, 'spec', (spec) => mapMember(spec, 'jobTemplate', withoutDisabledInTemplate)),
  default: (job) =>
    mapMember(job, 'spec', (given) => {
      const spec = mapMember(given, 'jobTemplate', (template) =>
        mapMember(template, 'spec', (inner) => mapMember(inner, 'template', defaultPodTemplate)),
      );
      return fill(spec, {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      });
    }),
  validate: (job) => [
    ...(job.metadata.name.length > maxNameLength
      ? [invalid('metadata.name', job.metadata.name, `must be no more than ${maxNameLength} characters`)]
      : []),
    ...validate(job),
  ],
  validateUpdate: validate,
  warnings: (job, old) => [
    ...(old ? [] : podNameWarnings(job)),
    ...(isTold(job, old)
      ? templateWarnings(job.spec?.jobTemplate?.spec?.template, 'spec.jobTemplate.spec.template')
      : []),
  ],
  tableCells: cronJobCells,
});
