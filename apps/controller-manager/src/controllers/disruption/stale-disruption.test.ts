import type { Pod } from '@tinkernetes/api';
import { untilStale } from './stale-disruption';

const now = Date.parse('2026-01-01T00:01:30Z');
const podOf = (condition: object, change: object = {}): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [] },
  status: {
    phase: 'Running',
    conditions: [
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        ...condition,
      },
    ],
  },
  ...change,
});

it.each([
  ['a Pod that stays', podOf({}), 30_000],
  ['one that stays for long', podOf({ lastTransitionTime: '2025-12-31T23:00:00Z' }), -3_570_000],
  ['one that its kubelet ends', podOf({ reason: 'TerminationByKubelet' }), undefined],
  ['one that was told already', podOf({ status: 'False' }), undefined],
  ['one that has failed', podOf({}, { status: { ...podOf({}).status, phase: 'Failed' } }), undefined],
  [
    'one that is being deleted',
    podOf({}, { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:01:00Z' } }),
    undefined,
  ],
  ['one without the condition', podOf({ type: 'Other' }), undefined],
])('knows when the disruption of %s is stale', (_, pod, expected) => {
  expect(untilStale(pod, now)).toBe(expected);
});
