import type { CronJob } from '@tinkernetes/api';
import { dueOf } from './due';

const at = (text: string) => Date.parse(text);
const created = '2026-01-01T09:30:00Z';
const hourly = (spec: Partial<CronJob['spec']> = {}): CronJob => ({
  metadata: { name: 'c', creationTimestamp: created },
  spec: { schedule: '0 * * * *', jobTemplate: {}, ...spec },
});
const minute = 60_000;

interface Expected {
  at?: string;
  wait?: number;
  events?: string[];
}
// As upstream's TestControllerV2SyncCronJob has them: a CronJob of every hour, looked at before, on and after it.
it.each<[string, CronJob, { last?: string; now: string }, Expected]>([
  ['never ran, not yet due', hourly(), { now: '2026-01-01T09:59:00Z' }, { wait: minute }],
  [
    'never ran, due',
    hourly(),
    { now: '2026-01-01T10:00:00Z' },
    { at: '2026-01-01T10:00:00Z', wait: 60 * minute },
  ],
  ['never ran, suspended', hourly({ suspend: true }), { now: '2026-01-01T10:00:00Z' }, {}],
  [
    'ran, not due',
    hourly(),
    { last: '2026-01-01T10:00:00Z', now: '2026-01-01T10:01:00Z' },
    { wait: 59 * minute },
  ],
  [
    'ran, due again',
    hourly(),
    { last: '2026-01-01T10:00:00Z', now: '2026-01-01T11:00:01Z' },
    { at: '2026-01-01T11:00:00Z', wait: 60 * minute - 1000 },
  ],
  [
    'late by all of its deadline',
    hourly({ startingDeadlineSeconds: 60 }),
    { now: '2026-01-01T10:01:00Z' },
    { wait: 59 * minute },
  ],
  [
    'late by less than its deadline',
    hourly({ startingDeadlineSeconds: 61 }),
    { now: '2026-01-01T10:01:00Z' },
    { at: '2026-01-01T10:00:00Z', wait: 59 * minute },
  ],
  [
    'too late for its deadline',
    hourly({ startingDeadlineSeconds: 30 }),
    { now: '2026-01-01T10:01:00Z' },
    { wait: 59 * minute },
  ],
  [
    'late by several times, the last counts',
    hourly(),
    { last: '2026-01-01T10:00:00Z', now: '2026-01-01T13:30:00Z' },
    { at: '2026-01-01T13:00:00Z', wait: 30 * minute },
  ],
  [
    'late by more times than are good',
    hourly(),
    { last: '2026-01-01T10:00:00Z', now: '2026-01-08T10:30:00Z' },
    { at: '2026-01-08T10:00:00Z', wait: 30 * minute, events: ['TooManyMissedTimes'] },
  ],
  [
    'late by many times with a deadline that keeps them few',
    hourly({ startingDeadlineSeconds: 7200 }),
    { last: '2026-01-01T10:00:00Z', now: '2026-01-08T10:30:00Z' },
    { at: '2026-01-08T10:00:00Z', wait: 30 * minute },
  ],
  [
    'in a time zone',
    hourly({ schedule: '0 12 * * *', timeZone: 'Europe/Berlin' }),
    { now: '2026-01-01T11:00:00Z' },
    { at: '2026-01-01T11:00:00Z', wait: 24 * 60 * minute },
  ],
  [
    'in a time zone that is none',
    hourly({ timeZone: 'Nowhere/Town' }),
    { now: '2026-01-01T10:00:00Z' },
    { events: ['UnknownTimeZone'] },
  ],
  [
    'with a schedule that is none',
    hourly({ schedule: 'every now and then' }),
    { now: '2026-01-01T10:00:00Z' },
    { events: ['UnparseableSchedule'] },
  ],
  [
    'with a schedule that never comes',
    hourly({ schedule: '0 0 31 2 *' }),
    { now: '2026-01-01T10:00:00Z' },
    { events: ['InvalidSchedule'] },
  ],
])('%s', (_, cronJob, { last, now }, expected) => {
  const due = dueOf(cronJob, last ? { lastScheduleTime: last } : {}, at(now));
  expect({
    at: due.at,
    wait: due.wait,
    events: due.events.map(({ reason }) => reason),
  }).toEqual({
    at: expected.at === undefined ? undefined : at(expected.at),
    wait: expected.wait,
    events: expected.events ?? [],
  });
});
