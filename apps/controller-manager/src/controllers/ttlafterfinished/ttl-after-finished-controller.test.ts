import type { Job, JobCondition } from '@tinkernetes/api';
import { untilExpiry } from './ttl-after-finished-controller';

const now = Date.parse('2026-01-01T00:01:00Z');
const [justNow, tenSecondsAgo] = ['2026-01-01T00:01:00Z', '2026-01-01T00:00:50Z'];
const job = (
  ttlSecondsAfterFinished: number | undefined,
  conditions: JobCondition[],
  metadata: Partial<Job['metadata']> = {},
): Job => ({
  metadata: { name: 'j', ...metadata },
  spec: { template: {}, ttlSecondsAfterFinished },
  status: { conditions },
});
const complete = (lastTransitionTime?: string): JobCondition => ({
  type: 'Complete',
  status: 'True',
  lastTransitionTime,
});
const failed = (lastTransitionTime: string): JobCondition => ({
  ...complete(lastTransitionTime),
  type: 'Failed',
});

// As upstream's TestTimeLeft has them.
it.each<[string, Job, number | undefined]>([
  ['unfinished', job(100, []), undefined],
  [
    'unfinished, its Pods stopping',
    job(100, [{ ...complete(justNow), type: 'SuccessCriteriaMet' }]),
    undefined,
  ],
  ['completed now, no TTL', job(undefined, [complete(justNow)]), undefined],
  ['completed now, 0s TTL', job(0, [complete(justNow)]), 0],
  ['completed now, 10s TTL', job(10, [complete(justNow)]), 10_000],
  ['completed 10s ago, 15s TTL', job(15, [complete(tenSecondsAgo)]), 5000],
  ['completed 10s ago, 5s TTL', job(5, [complete(tenSecondsAgo)]), -5000],
  ['failed now, no TTL', job(undefined, [failed(justNow)]), undefined],
  ['failed now, 0s TTL', job(0, [failed(justNow)]), 0],
  ['failed now, 10s TTL', job(10, [failed(justNow)]), 10_000],
  ['failed 10s ago, 15s TTL', job(15, [failed(tenSecondsAgo)]), 5000],
  ['completed, nobody says when', job(0, [complete()]), undefined],
  ['completed, being deleted', job(0, [complete(justNow)], { deletionTimestamp: justNow }), undefined],
])('a Job %s', (_, given, expected) => {
  expect(untilExpiry(given, now)).toBe(expected);
});
