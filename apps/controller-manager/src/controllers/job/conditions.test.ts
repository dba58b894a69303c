import type { Job, JobCondition } from '@tinkernetes/api';
import { endEventsOf, endOf, isJobFinished, suspensionOf, withJobCondition } from './conditions';
import type { Verdict } from './verdict';

const now = Date.parse('2026-01-01T00:00:10Z');
const jobOf = (spec: Partial<Job['spec']> = {}, conditions: JobCondition[] = []): Job => ({
  metadata: { name: 'j' },
  spec: { template: {}, ...spec },
  status: { conditions },
});
const complete = { is: 'complete', reason: 'CompletionsReached', message: 'reached' } as const;
const failed = { is: 'failed', reason: 'BackoffLimitExceeded', message: 'too often' } as const;

it.each<[string, Partial<Job['spec']>, number, Exclude<Verdict, { is: 'running' }>, string[]]>([
  ['has reached its count', { completions: 2 }, 2, complete, ['Normal Completed']],
  ['has no count to reach', {}, 3, complete, ['Normal Completed']],
  [
    'has gone past its count',
    { completions: 2 },
    3,
    complete,
    ['Warning TooManySucceededPods', 'Normal Completed'],
  ],
  ['succeeded by its policy before', { completions: 3 }, 1, complete, ['Normal Completed']],
  ['failed', { completions: 2 }, 3, failed, ['Warning BackoffLimitExceeded']],
])('tells of a Job that %s', (_, spec, succeeded, verdict, expected) => {
  const events = endEventsOf(jobOf(spec), { succeeded }, verdict);
  expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual(expected);
});

it.each<[string, JobCondition[], ReturnType<typeof isJobFinished>]>([
  ['complete', [{ type: 'Complete', status: 'True' }], 'Complete'],
  ['failed', [{ type: 'Failed', status: 'True' }], 'Failed'],
  ['not yet, while Pods stop', [{ type: 'SuccessCriteriaMet', status: 'True' }], undefined],
  ['not, where the condition is not true', [{ type: 'Failed', status: 'False' }], undefined],
])('a Job is %s', (_, conditions, expected) => {
  expect(isJobFinished(jobOf({}, conditions))).toBe(expected);
});

it.each<[string, boolean, JobCondition[], string | undefined]>([
  ['set on suspending', true, [], 'JobSuspended'],
  ['left while suspended', true, [{ type: 'Suspended', status: 'True' }], undefined],
  ['turned on resuming', false, [{ type: 'Suspended', status: 'True' }], 'JobResumed'],
  ['never set for a Job that was not suspended', false, [], undefined],
])('the condition Suspended is %s', (_, suspend, conditions, reason) => {
  expect(suspensionOf(jobOf({ suspend }, conditions))?.reason).toBe(reason);
});

it('keeps the time of a condition that stays as it is, and sets that of one that turns', () => {
  const before: JobCondition[] = [
    { type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  expect(withJobCondition(before, endOf(complete), now)).toEqual(before);
  const turned = withJobCondition([{ type: 'Complete', status: 'False' }], endOf(complete), now);
  expect(turned).toEqual([
    {
      ...{ type: 'Complete', status: 'True', reason: 'CompletionsReached', message: 'reached' },
      lastProbeTime: '2026-01-01T00:00:10Z',
      lastTransitionTime: '2026-01-01T00:00:10Z',
    },
  ]);
});
