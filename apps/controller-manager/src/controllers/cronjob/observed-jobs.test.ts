import type { CronJob, Job } from '@tinkernetes/api';
import { observeJobs, unseenActive } from './observed-jobs';

const cronJob = (active: string[], lastSuccessfulTime?: string): CronJob => ({
  metadata: { name: 'c' },
  spec: { schedule: '* * * * *', jobTemplate: {} },
  status: {
    active: active.map((name) => ({ name, uid: name })),
    ...(lastSuccessfulTime ? { lastSuccessfulTime } : {}),
  },
});
const job = (name: string, end?: 'Complete' | 'Failed', completionTime?: string): Job => ({
  metadata: { name, uid: name },
  spec: { template: {} },
  status: {
    ...(completionTime ? { completionTime } : {}),
    conditions: end ? [{ type: end, status: 'True' }] : [],
  },
});
const ours = (made: Job): Job => ({
  ...made,
  metadata: {
    ...made.metadata,
    annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T00:00:00Z' },
  },
});

// As upstream's TestControllerV2SyncCronJob and its neighbours have them.
it.each<[string, { active?: string[]; jobs?: Job[]; gone?: string[] }, string[], string[]]>([
  ['runs', { active: ['a'], jobs: [job('a')] }, ['a'], []],
  [
    'is complete',
    { active: ['a'], jobs: [job('a', 'Complete')] },
    [],
    ['Normal SawCompletedJob Saw completed job: a, condition: Complete'],
  ],
  [
    'failed while another runs',
    { active: ['a', 'b'], jobs: [job('a', 'Failed'), job('b')] },
    ['b'],
    ['Normal SawCompletedJob Saw completed job: a, condition: Failed'],
  ],
  ['ended and was taken note of', { jobs: [job('a', 'Failed')] }, [], []],
  ['is gone', { active: ['a'], gone: ['a'] }, [], ['Normal MissingJob Active job went missing: a']],
  ['is there, though not yet seen', { active: ['a'] }, ['a'], []],
  ['was made by the controller, not yet written down', { jobs: [ours(job('a'))] }, ['a'], []],
  [
    'somebody else made',
    { active: ['a'], jobs: [job('a'), job('b')] },
    ['a'],
    ['Warning UnexpectedJob Saw a job that the controller did not create or forgot: b'],
  ],
])('of a Job that %s it lists and tells', (_, { active = [], jobs = [], gone = [] }, listed, told) => {
  const { status, events } = observeJobs(cronJob(active), jobs, new Set(gone));
  expect(status.active?.map(({ name }) => name)).toEqual(listed);
  expect(events.map(({ type, reason, message }) => `${type} ${reason} ${message}`)).toEqual(told);
});

const [early, middle, late] = ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z', '2026-01-01T00:03:00Z'];
it.each<[string, string | undefined, Job[], string | undefined]>([
  ['none while none succeeded', undefined, [job('a'), job('b', 'Failed', late)], undefined],
  ['that of the first that did', undefined, [job('a', 'Complete', early)], early],
  ['the latest of several', undefined, [job('a', 'Complete', late), job('b', 'Complete', middle)], late],
  ['a later one than before', early, [job('a', 'Complete', middle)], middle],
  ['what it was, where only older Jobs are left', late, [job('a', 'Complete', early)], late],
  ['what it was, where a success has no time', early, [job('a', 'Complete')], early],
])('lastSuccessfulTime is %s', (_, before, jobs, expected) => {
  expect(observeJobs(cronJob([], before), jobs, new Set()).status.lastSuccessfulTime).toBe(expected);
});

it('asks only after Jobs that are listed and not seen', () => {
  expect(unseenActive(cronJob(['a', 'b']), [job('b'), job('c')]).map(({ name }) => name)).toEqual(['a']);
});
