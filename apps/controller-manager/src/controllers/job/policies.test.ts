import type { Job, Pod, PodFailurePolicyRule } from '@tinkernetes/api';
import { account } from './accounting';
import { suspensionOf } from './conditions';
import { isCountedOnly } from './counted-only';
import { demandOf } from './demand';
import { matchFailurePolicy } from './pod-failure-policy';
import { onlyReplacesFailed } from './pods';
import { decide } from './verdict';

const jobOf = (spec: Partial<Job['spec']> = {}, status: Job['status'] = {}): Job => ({
  metadata: { name: 'j', namespace: 'ns' },
  spec: { template: {}, completions: 4, parallelism: 4, ...spec },
  status,
});
const stateOf = (exitCode?: number) =>
  exitCode === undefined ? { running: {} } : { terminated: { exitCode, finishedAt: '2026-01-01T00:00:00Z' } };
const containerOf = (name: string, exitCode?: number, restartCount = 0) => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount,
  state: stateOf(exitCode),
});
const failedPod = (codes: Record<string, number>, condition?: string): Pod => ({
  metadata: { name: 'p', namespace: 'ns' },
  spec: { containers: [{ name: 'main' }, { name: 'side' }], initContainers: [{ name: 'init' }] },
  status: {
    phase: 'Failed',
    containerStatuses: ['main', 'side'].flatMap((name) =>
      name in codes ? [containerOf(name, codes[name])] : [],
    ),
    initContainerStatuses: 'init' in codes ? [containerOf('init', codes.init)] : [],
    conditions: condition ? [{ type: condition, status: 'True' }] : [],
  },
});
const exits = (action: string, operator: string, values: number[], containerName?: string) =>
  ({
    action,
    onExitCodes: { operator, values, ...(containerName ? { containerName } : {}) },
  }) as PodFailurePolicyRule;
const onCondition = (action: string, type: string, status = 'True') =>
  ({ action, onPodConditions: [{ type, status }] }) as PodFailurePolicyRule;
const exited = 'failed with exit code 42 matching FailJob rule at index';

it.each<[string, PodFailurePolicyRule[], Pod, string]>([
  [
    'In',
    [exits('FailJob', 'In', [1, 42])],
    failedPod({ main: 42 }),
    `FailJob: Container main for pod ns/p ${exited} 0`,
  ],
  ['In another', [exits('FailJob', 'In', [1])], failedPod({ main: 42 }), 'Count'],
  ['NotIn', [exits('FailIndex', 'NotIn', [1])], failedPod({ main: 42 }), 'FailIndex'],
  ['NotIn, never by success', [exits('FailJob', 'NotIn', [1])], failedPod({ main: 1, side: 0 }), 'Count'],
  ['of one container', [exits('Ignore', 'In', [42], 'side')], failedPod({ main: 42, side: 1 }), 'Count'],
  [
    'of an init container',
    [exits('FailJob', 'In', [42])],
    failedPod({ init: 42 }),
    `FailJob: Container init for pod ns/p ${exited} 0`,
  ],
  [
    'counted at once',
    [exits('Count', 'In', [42]), exits('FailJob', 'In', [42])],
    failedPod({ main: 42 }),
    'Count',
  ],
  [
    'the first that matches',
    [onCondition('Ignore', 'DisruptionTarget'), exits('FailJob', 'In', [42])],
    failedPod({ main: 42 }),
    `FailJob: Container main for pod ns/p ${exited} 1`,
  ],
  [
    'a condition',
    [onCondition('FailJob', 'ConfigIssue')],
    failedPod({}, 'ConfigIssue'),
    'FailJob: Pod ns/p has condition ConfigIssue matching FailJob rule at index 0',
  ],
  [
    'a condition of another status',
    [onCondition('FailJob', 'ConfigIssue', 'False')],
    failedPod({}, 'ConfigIssue'),
    'Count',
  ],
])('C25 (c) a failure policy matches %s', (_, rules, pod, expected) => {
  const { action, message } = matchFailurePolicy(jobOf({ podFailurePolicy: { rules } }), pod);
  expect(action === 'FailJob' ? `${action}: ${message}` : action).toBe(expected);
});

it.each([
  ['all of the indexes', { succeededIndexes: '0-1' }, '0,1', true],
  ['all of the indexes, and one is missing', { succeededIndexes: '0-1' }, '0', false],
  ['as many as it counts', { succeededCount: 2 }, '1,3', true],
  ['as many of the indexes as it counts', { succeededIndexes: '0-2', succeededCount: 1 }, '2', true],
  [
    'as many of the indexes as it counts, and others are',
    { succeededIndexes: '0-2', succeededCount: 1 },
    '3',
    false,
  ],
])('a success policy asks for %s', (_, rule, completedIndexes, isMet) => {
  const job = jobOf({ completionMode: 'Indexed', successPolicy: { rules: [rule] } }, { completedIndexes });
  const verdict = decide({ job, accounting: account(job, []), active: [], now: 0 });
  expect(verdict).toMatchObject(
    isMet
      ? { is: 'complete', reason: 'SuccessPolicy', message: 'Matched rules at index 0' }
      : { is: 'running' },
  );
});

it.each([
  ['Failed', undefined, true],
  ['TerminatingOrFailed', undefined, false],
  [undefined, undefined, false],
  [undefined, { rules: [] }, true],
] as const)(
  'with podReplacementPolicy %s and failure policy %j waits for Pods that are going: %s',
  (policy, podFailurePolicy, waits) => {
    const job = jobOf({ podReplacementPolicy: policy, podFailurePolicy: podFailurePolicy && { rules: [] } });
    expect(onlyReplacesFailed(job)).toBe(waits);
    const going = [failedPod({})];
    const { create } = demandOf(job, { active: [], terminating: going, accounting: account(job, []) });
    expect(create).toHaveLength(waits ? 3 : 4);
  },
);

it.each([
  ['completions left', { completions: 5, parallelism: 3 }, 3, 2],
  ['parallelism', { completions: 9, parallelism: 2 }, 0, 2],
  [
    'nothing once one has succeeded, where no number is asked for',
    { completions: undefined, parallelism: 3 },
    1,
    0,
  ],
  ['nothing without parallelism', { completions: 5, parallelism: 0 }, 0, 0],
])('makes Pods for %s', (_, spec, succeeded, expected) => {
  const job = jobOf(spec, { succeeded });
  expect(demandOf(job, { active: [], terminating: [], accounting: account(job, []) }).create).toHaveLength(
    expected,
  );
});

const suspended = (status: 'True' | 'False') => ({ conditions: [{ type: 'Suspended', status }] });
it.each([
  [true, {}, 'JobSuspended'],
  [true, suspended('True'), undefined],
  [false, suspended('True'), 'JobResumed'],
  [false, suspended('False'), undefined],
  [false, {}, undefined],
] as const)('a Job with suspend %s and %j tells %s', (suspend, status, reason) => {
  expect(suspensionOf(jobOf({ suspend }, status as Job['status']))?.reason).toBe(reason);
});

const podWith = (phase: 'Running' | 'Succeeded', restarts: number, deletionTimestamp?: string): Pod => ({
  metadata: { name: 'p', deletionTimestamp },
  spec: { containers: [] },
  status: { phase, containerStatuses: [containerOf('main', undefined, restarts)] },
});
it.each([
  ['becomes ready', podWith('Running', 0), true],
  ['is restarted', podWith('Running', 1), false],
  ['ends', podWith('Succeeded', 0), false],
  ['is told to go', podWith('Running', 0, '2026-01-01T00:00:00Z'), false],
])('a Pod that %s is only counted: %s', (_, after, expected) => {
  expect(isCountedOnly(podWith('Running', 0), after)).toBe(expected);
});
