import type { CronJob, CronJobStatus, Job } from '@tinkernetes/api';
import { jobName, jobOf, scheduledAt, withMadeJob, withScheduleTime } from './scheduled-job';

const time = '2026-01-01T00:01:00Z';
const at = Date.parse(time);
const cronJob = (timeZone?: string): CronJob => ({
  metadata: { name: 'tick', namespace: 'ns', uid: 'u' },
  spec: {
    schedule: '* * * * *',
    jobTemplate: {
      metadata: { name: '', labels: { a: 'b' }, annotations: { x: 'y' } },
      spec: { template: {}, parallelism: 2 },
    },
    ...(timeZone ? { timeZone } : {}),
  },
});
const made = (uid: string, scheduled?: string): Job => ({
  metadata: { name: uid, uid, ...(scheduled ? { annotations: { [scheduledAt]: scheduled } } : {}) },
  spec: { template: {} },
});

it('is made from the template, named after its minute, and owned by its CronJob', () => {
  expect(jobOf(cronJob(), at)).toEqual({
    metadata: {
      name: `tick-${at / 60_000}`,
      namespace: 'ns',
      labels: { a: 'b' },
      annotations: { x: 'y', [scheduledAt]: time },
      ownerReferences: [
        {
          ...{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: 'u' },
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { template: {}, parallelism: 2 },
  });
});

it.each([
  [undefined, '2026-01-01T00:01:00Z'],
  ['UTC', '2026-01-01T00:01:00Z'],
  ['Europe/London', '2026-01-01T00:01:00Z'],
  ['Europe/Berlin', '2026-01-01T01:01:00+01:00'],
  ['America/New_York', '2025-12-31T19:01:00-05:00'],
  ['Asia/Kolkata', '2026-01-01T05:31:00+05:30'],
])('in time zone %s says %s', (zone, expected) => {
  expect(jobOf(cronJob(zone), at).metadata.annotations?.[scheduledAt]).toBe(expected);
});

it.each([
  [0, true],
  [59_999, true],
  [60_000, false],
])('has a name that is the same %i ms later: %s', (ms, isSame) => {
  expect(jobName(cronJob(), at + ms) === jobName(cronJob(), at)).toBe(isSame);
});

it.each<[string, CronJobStatus, string[]]>([
  ['puts a made Job into a list', { active: [{ uid: 'other' }] }, ['other', 'j']],
  ['starts a list with it', {}, ['j']],
  ['does not list it twice', { active: [{ uid: 'j' }] }, ['j']],
])('%s', (_, status, active) => {
  const next = withMadeJob(status, made('j'), at);
  expect(next.active?.map(({ uid }) => uid)).toEqual(active);
  expect(next.lastScheduleTime).toBe(time);
});

it.each<[string, string | undefined, string | undefined, string | undefined]>([
  ['of a Job that was not written down', undefined, time, time],
  ['of a Job later than what was written', '2026-01-01T00:00:00Z', time, time],
  ['not of an older Job', '2026-01-01T00:02:00Z', time, '2026-01-01T00:02:00Z'],
  ['not of a Job that does not say', undefined, undefined, undefined],
])('takes lastScheduleTime %s', (_, lastScheduleTime, scheduled, expected) => {
  const status: CronJobStatus = lastScheduleTime ? { lastScheduleTime } : {};
  expect(withScheduleTime(status, made('j', scheduled)).lastScheduleTime).toBe(expected);
});
