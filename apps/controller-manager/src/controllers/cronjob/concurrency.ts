import type { CronJob, ObjectReference } from '@tinkernetes/api';
import type { CronJobEvent } from './observed-jobs';

/** What becomes of the Jobs that still run when the next one is due. */
export interface Concurrency {
  /** Says why the next one is not started; undefined: it is. */
  skipped?: CronJobEvent;
  /** Deleted before the next one is made. */
  replaced: readonly ObjectReference[];
  /** Go on beside it. */
  kept: readonly ObjectReference[];
}

/** Source: cronjob syncCronJob, its part about `spec.concurrencyPolicy`. */
export function concurrencyOf({ spec }: CronJob, running: readonly ObjectReference[] = []): Concurrency {
  if (spec.concurrencyPolicy === 'Replace') return { replaced: running, kept: [] };
  if (spec.concurrencyPolicy !== 'Forbid' || running.length === 0) return { replaced: [], kept: running };
  const skipped: CronJobEvent = {
    type: 'Normal',
    reason: 'JobAlreadyActive',
    message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
  };
  return { skipped, replaced: [], kept: running };
}
