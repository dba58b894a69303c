import type { CronJob, Job } from '@tinkernetes/api';
import { surplusHistory } from './history';

const cronJob = (limits: Partial<CronJob['spec']> = {}): CronJob => ({
  metadata: { name: 'c' },
  spec: { schedule: '* * * * *', jobTemplate: {}, ...limits },
});
const job = (name: string, type?: 'Complete' | 'Failed', metadata: Partial<Job['metadata']> = {}): Job => ({
  metadata: { name, ...metadata },
  spec: { template: {} },
  status: {
    startTime: `2026-01-01T00:0${name.slice(1)}:00Z`,
    conditions: type ? [{ type, status: 'True' }] : [],
  },
});
const complete = ['j4', 'j1', 'j3', 'j2', 'j5'].map((name) => job(name, 'Complete'));

it.each([
  ['three that succeeded', cronJob(), complete, ['j1', 'j2']],
  ['one that failed', cronJob(), [job('j2', 'Failed'), job('j1', 'Failed')], ['j1']],
  ['as many as said', cronJob({ successfulJobsHistoryLimit: 4 }), complete, ['j1']],
  ['none where the limit is 0', cronJob({ failedJobsHistoryLimit: 0 }), [job('j1', 'Failed')], ['j1']],
  ['those that run', cronJob({ successfulJobsHistoryLimit: 0 }), [job('j1')], []],
  [
    'those that are on their way out',
    cronJob({ successfulJobsHistoryLimit: 0 }),
    [job('j1', 'Complete', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    [],
  ],
])('a CronJob keeps %s', (_, owner, jobs, surplus) => {
  expect(surplusHistory(owner, jobs).map(({ metadata }) => metadata.name)).toEqual(surplus);
});
