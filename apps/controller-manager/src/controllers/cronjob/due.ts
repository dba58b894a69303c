import type { CronJob, CronJobStatus } from '@tinkernetes/api';
import type { CronJobEvent } from './observed-jobs';
import { isTimeZone, latestMissed, parseSchedule, type Schedule } from './schedule';

export interface Due {
  /** The scheduled time for which a Job is to be made; undefined: none now. */
  at?: number;
  /** Milliseconds until the next scheduled time; undefined: only a change of the CronJob brings one. */
  wait?: number;
  events: readonly CronJobEvent[];
}

/** Whether a Job is due, and what is to be said of the schedule. Source: cronjob syncCronJob, nextScheduleTime. */
export function dueOf({ metadata, spec }: CronJob, status: CronJobStatus, now: number): Due {
  const { timeZone, suspend, startingDeadlineSeconds } = spec;
  if (timeZone !== undefined && !isTimeZone(timeZone))
    return only('UnknownTimeZone', `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`);
  if (suspend) return { events: [] };
  let schedule: Schedule;
  try {
    schedule = parseSchedule(spec.schedule, timeZone);
  } catch (error) {
    return only(
      'UnparseableSchedule',
      `unparseable schedule: "${spec.schedule}" : ${(error as Error).message}`,
    );
  }
  const deadlineMs = (startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const since = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  const earliest = Math.max(since, Number.isFinite(deadlineMs) ? now - deadlineMs : 0);
  const { isVoid, latest, tooMany } = latestMissed(schedule, earliest, now);
  if (isVoid)
    return only(
      'InvalidSchedule',
      `invalid schedule: ${spec.schedule} : time difference between two schedules is less than 1 second`,
    );
  const next = schedule.next(now);
  const wait = next === undefined ? {} : { wait: next - now };
  const events = tooMany ? [tooManyMissed] : [];
  if (latest === undefined) return { ...wait, events };
  if (latest + deadlineMs >= now) return { at: latest, ...wait, events };
  const message = `Missed scheduled time to start a job: ${goTime(latest)}`;
  return { ...wait, events: [...events, { type: 'Warning', reason: 'MissSchedule', message }] };
}

const tooManyMissed: CronJobEvent = {
  type: 'Warning',
  reason: 'TooManyMissedTimes',
  message: 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
};

const only = (reason: string, message: string): Due => ({ events: [{ type: 'Warning', reason, message }] });

/** As Go's time.RFC1123Z prints it. */
const goTime = (at: number): string => new Date(at).toUTCString().replace('GMT', '+0000');
