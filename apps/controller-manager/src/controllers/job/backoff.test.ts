import type { Job, Pod } from '@tinkernetes/api';
import { afterBackoff, backoffMs } from './backoff';
import { finishedAt } from './pods';

const second = 1000;
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(start + seconds * second).toISOString();
const ready = (status: 'True' | 'False', seconds: number) => [
  { type: 'Ready', status, lastTransitionTime: at(seconds) },
];
const ended = (name: string, seconds?: number) => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: seconds === undefined ? { running: {} } : { terminated: { exitCode: 1, finishedAt: at(seconds) } },
});
const podOf = (metadata: Partial<Pod['metadata']>, status: Pod['status'] = {}): Pod => ({
  metadata: { name: 'p', creationTimestamp: at(0), ...metadata },
  spec: { containers: [], initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }, { name: 'init' }] },
  status,
});
const going = { deletionTimestamp: at(3630), deletionGracePeriodSeconds: 3600 };

it.each<[string, Pod, number]>([
  ['with its last container', podOf({}, { containerStatuses: [ended('a', 5), ended('b', 9)] }), 9],
  [
    'with its sidecar, not with what only started it',
    podOf(
      {},
      { containerStatuses: [ended('a', 5)], initContainerStatuses: [ended('sidecar', 7), ended('init', 99)] },
    ),
    7,
  ],
  [
    'when it was no longer ready, while a container has no end',
    podOf({}, { containerStatuses: [ended('a', 5), ended('b')], conditions: ready('False', 6) }),
    6,
  ],
  ['when it was told to go, not when it has to be gone', podOf(going, { conditions: ready('True', 1) }), 30],
  ['when it was made, where nothing else is known', podOf({}), 0],
])('a Pod finished %s', (_, pod, seconds) => {
  expect(finishedAt(pod)).toBe(start + seconds * second);
});

const job: Job = {
  metadata: { name: 'j' },
  spec: { template: {}, completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 9 },
};

it('a Pod that is told to go is replaced after 10 s, however long it takes', () => {
  const replacing: Job = { ...job, spec: { template: {}, podReplacementPolicy: 'TerminatingOrFailed' } };
  expect(backoffMs(replacing, [podOf(going)], start + 30 * second)).toBe(10 * second);
  expect(backoffMs(replacing, [podOf(going)], start + 40 * second)).toBe(0);
});

it('an index waits by the failures that its last Pod knows of, ignored ones too', () => {
  const annotations = {
    'batch.kubernetes.io/job-completion-index': '0',
    'batch.kubernetes.io/job-index-failure-count': '1',
    'batch.kubernetes.io/job-index-ignored-failure-count': '1',
  };
  const failed = podOf({ annotations }, { phase: 'Failed', containerStatuses: [ended('a', 0)] });
  const slots = [0, 1].map((number) => ({ number, failures: 0 }));
  expect(afterBackoff(slots, { job, pods: [failed], now: start })).toEqual({
    create: [slots[1]],
    wait: 40 * second,
  });
});
