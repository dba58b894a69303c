import type { Job, Pod } from '@tinkernetes/api';
import { account } from './accounting';
import { afterBackoff, backoffMs } from './backoff';
import { demandOf } from './demand';
import { firstFreeIndexes, formatIndexes, parseIndexes } from './indexes';
import { trackingFinalizer } from './pods';
import { countReleased, planTracking } from './tracking';
import { decide } from './verdict';

const second = 1000;
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(start + seconds * second).toISOString();

const jobOf = (spec: Partial<Job['spec']> = {}, status: Job['status'] = {}): Job => ({
  metadata: { name: 'j', namespace: 'ns', uid: 'job' },
  spec: {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    template: { spec: { containers: [{ name: 'main' }] } },
    ...spec,
  },
  status,
});
interface PodShape {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  exitCode?: number;
  end?: number;
  index?: number;
  restarts?: number;
  conditions?: NonNullable<Pod['status']>['conditions'];
  tracked?: boolean;
}
const podOf = (
  name: string,
  { phase = 'Running', exitCode, end = 0, index, restarts = 0, conditions, tracked = true }: PodShape,
): Pod => ({
  metadata: {
    name,
    namespace: 'ns',
    uid: name,
    finalizers: tracked ? [trackingFinalizer] : [],
    annotations: index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(index) },
  },
  spec: { containers: [{ name: 'main' }] },
  status: {
    phase,
    conditions,
    containerStatuses: [
      {
        name: 'main',
        image: '',
        imageID: '',
        ready: false,
        restartCount: restarts,
        state: exitCode === undefined ? { running: {} } : { terminated: { exitCode, finishedAt: at(end) } },
      },
    ],
  },
});
const verdictOf = (job: Job, pods: readonly Pod[]) =>
  decide({
    job,
    accounting: account(job, pods),
    active: pods.filter((p) => p.status?.phase === 'Running' || p.status?.phase === 'Pending'),
    now: start,
  });

it.each([
  [[0, 1, 2, 5], '0-2,5'],
  [[3, 1], '1,3'],
  [[4, 5], '4,5'],
  [[], ''],
])('writes indexes %j as "%s" and reads them back', (indexes, text) => {
  expect(formatIndexes(indexes)).toBe(text);
  expect(parseIndexes(text)).toEqual([...indexes].sort((a, b) => a - b));
});

it('gives out the lowest free indexes', () => {
  expect(firstFreeIndexes(new Set([0, 2]), 2, 4)).toEqual([1, 3]);
});

it.each([
  [2, 'running'],
  [3, 'failed'],
])('C25 (a) with backoffLimit 2, %i failed Pods make the Job %s', (failures, expected) => {
  const pods = Array.from({ length: failures }, (_, i) => podOf(`p${i}`, { phase: 'Failed', exitCode: 1 }));
  expect(verdictOf(jobOf({ backoffLimit: 2, parallelism: 3, completions: 3 }), pods).is).toBe(expected);
});

it.each([
  [1, 10],
  [2, 20],
  [3, 40],
  [8, 600],
])('C25 (a) after %i failures in a row the next Pod waits %i s', (failures, wait) => {
  const pods = Array.from({ length: failures }, (_, i) => podOf(`p${i}`, { phase: 'Failed', exitCode: 1 }));
  expect(backoffMs(jobOf(), pods, start)).toBe(wait * second);
});

it('forgets the failures before a success, and waits for indexes one by one', () => {
  const pods = [
    podOf('a', { phase: 'Failed', exitCode: 1, end: 0, index: 0 }),
    podOf('b', { phase: 'Succeeded', exitCode: 0, end: 5, index: 1 }),
  ];
  expect(backoffMs(jobOf(), pods, start + 5 * second)).toBe(0);
  const job = jobOf({ completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 });
  const slots = [0, 2].map((number) => ({ number, failures: 0 }));
  expect(afterBackoff(slots, { job, pods, now: start })).toEqual({ create: [slots[1]], wait: 10 * second });
});

it('C25 (b) counts restarts of running containers with restartPolicy OnFailure', () => {
  const job = jobOf({
    backoffLimit: 2,
    template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'main' }] } },
  });
  expect(verdictOf(job, [podOf('p', { restarts: 1 })])).toEqual({ is: 'running' });
  expect(verdictOf(job, [podOf('p', { restarts: 2 })])).toMatchObject({ reason: 'BackoffLimitExceeded' });
});

const policy: NonNullable<Job['spec']['podFailurePolicy']> = {
  rules: [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
  ],
};

it('C25 (c) fails at once by the first rule that matches, and says which', () => {
  expect(
    verdictOf(jobOf({ podFailurePolicy: policy }), [podOf('p', { phase: 'Failed', exitCode: 42 })]),
  ).toEqual({
    is: 'failed',
    reason: 'PodFailurePolicy',
    message: 'Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 1',
  });
});

it('C25 (d) does not count a Pod that was disrupted, and replaces it', () => {
  const job = jobOf({ podFailurePolicy: policy, backoffLimit: 0 });
  const pods = [
    podOf('p', { phase: 'Failed', exitCode: 42, conditions: [{ type: 'DisruptionTarget', status: 'True' }] }),
  ];
  const accounting = account(job, pods);
  expect(accounting.failed).toBe(0);
  expect(decide({ job, accounting, active: [], now: start })).toEqual({ is: 'running' });
  expect(demandOf(job, { active: [], terminating: [], accounting }).create).toHaveLength(1);
});

it('C25 (e) fails only the index that exceeds its own limit, and the Job when all others are done', () => {
  const job = jobOf({ completionMode: 'Indexed', completions: 4, parallelism: 4, backoffLimitPerIndex: 0 });
  const pods = [0, 1, 2, 3].map((index) =>
    podOf(
      `p${index}`,
      index === 2 ? { phase: 'Failed', exitCode: 1, index } : { phase: 'Succeeded', exitCode: 0, index },
    ),
  );
  const accounting = account(job, pods);
  expect([...accounting.failedIndexes]).toEqual([2]);
  expect(verdictOf(job, pods)).toMatchObject({ is: 'failed', reason: 'FailedIndexes' });
  expect(verdictOf(job, [...pods.slice(0, 3), podOf('p3', { index: 3 })])).toEqual({ is: 'running' });
});

it('ends by its success policy while other indexes still run', () => {
  const job = jobOf({
    completionMode: 'Indexed',
    completions: 3,
    successPolicy: { rules: [{ succeededIndexes: '0' }] },
  });
  const pods = [podOf('p0', { phase: 'Succeeded', exitCode: 0, index: 0 }), podOf('p1', { index: 1 })];
  expect(verdictOf(job, pods)).toMatchObject({ is: 'complete', reason: 'SuccessPolicy' });
});

it('fails a Job that was active for too long', () => {
  const job = jobOf({ activeDeadlineSeconds: 60 }, { startTime: at(-60) });
  expect(verdictOf(job, [podOf('p', {})])).toMatchObject({ reason: 'DeadlineExceeded' });
});

it('counts each finished Pod once: through the uncounted list, however often it is seen', () => {
  const job = jobOf({ completions: 2 });
  const pods = [podOf('p', { phase: 'Succeeded', exitCode: 0 })];
  const accounting = account(job, pods);
  const plan = planTracking({ job, pods, accounting, verdict: { is: 'running' } });
  expect(plan.uncounted).toEqual({ succeeded: ['p'], failed: [] });
  const afterCrash = jobOf({ completions: 2 }, { uncountedTerminatedPods: { succeeded: ['p'] } });
  expect(account(afterCrash, pods)).toMatchObject({ succeeded: 1, newlySucceeded: [] });
  const status = countReleased(afterCrash, { uncounted: plan.uncounted, accounting }, new Set());
  expect(status).toMatchObject({ succeeded: 1, failed: 0, uncountedTerminatedPods: {} });
  const released = [podOf('p', { phase: 'Succeeded', exitCode: 0, tracked: false })];
  expect(account({ ...job, status }, released).succeeded).toBe(1);
});

it('an elastic Job that shrinks removes the Pods of the indexes that are gone, and no more than those', () => {
  const job = jobOf({ completionMode: 'Indexed', completions: 2, parallelism: 2 });
  const active = [2, 1, 0, 3].map((index) => podOf(`p${index}`, { index }));
  const plan = demandOf(job, { active, terminating: [], accounting: account(job, active) });
  expect(plan.remove.map((pod) => pod.metadata.name).sort()).toEqual(['p2', 'p3']);
  expect(plan.create).toEqual([]);
});
