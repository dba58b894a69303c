import type { CronJob, ObjectReference } from '@tinkernetes/api';
import { concurrencyOf } from './concurrency';

type Policy = CronJob['spec']['concurrencyPolicy'];
const cronJob = (concurrencyPolicy: Policy): CronJob => ({
  metadata: { name: 'c' },
  spec: { schedule: '* * * * *', jobTemplate: {}, concurrencyPolicy },
});
const names = (references: readonly ObjectReference[]) => references.map(({ name }) => name);

// What upstream's TestControllerV2SyncCronJob says of a time that is due, with and without a Job that runs.
it.each<[Policy, string[], { skipped?: string; replaced: string[]; kept: string[] }]>([
  ['Allow', [], { replaced: [], kept: [] }],
  ['Allow', ['a', 'b'], { replaced: [], kept: ['a', 'b'] }],
  [undefined, ['a'], { replaced: [], kept: ['a'] }],
  ['Forbid', [], { replaced: [], kept: [] }],
  ['Forbid', ['a'], { skipped: 'Normal JobAlreadyActive', replaced: [], kept: ['a'] }],
  ['Replace', [], { replaced: [], kept: [] }],
  ['Replace', ['a', 'b'], { replaced: ['a', 'b'], kept: [] }],
])('policy %s with Jobs %j running gives %o', (policy, running, expected) => {
  const { skipped, replaced, kept } = concurrencyOf(
    cronJob(policy),
    running.map((name) => ({ name })),
  );
  expect({
    ...(skipped ? { skipped: `${skipped.type} ${skipped.reason}` } : {}),
    replaced: names(replaced),
    kept: names(kept),
  }).toEqual(expected);
});

it('takes a CronJob without a list of running Jobs for one with none', () => {
  expect(concurrencyOf(cronJob('Forbid'), undefined)).toEqual({ replaced: [], kept: [] });
});
