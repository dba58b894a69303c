import type { DaemonSet, Node, Pod } from '@tinkernetes/api';
import { calculateStatus } from './status';

const now = Date.parse('2026-01-01T00:01:00Z');
const set: DaemonSet = {
  metadata: { name: 'agent', generation: 2 },
  spec: { selector: {}, template: { spec: { containers: [] } }, minReadySeconds: 30 },
};
const nodeOf = (name: string, taints: Node['spec']['taints'] = []): Node => ({
  metadata: { name },
  spec: { taints },
});
const podOf = (
  nodeName: string,
  hash: string,
  readySince?: string,
  createdAt = '2026-01-01T00:00:00Z',
): Pod => ({
  metadata: {
    name: `${nodeName}-${hash}`,
    labels: { 'controller-revision-hash': hash },
    creationTimestamp: createdAt,
  },
  spec: { containers: [], nodeName },
  status: {
    phase: 'Running',
    conditions: readySince ? [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }] : [],
  },
});
const justNow = '2026-01-01T00:00:59Z';
const longAgo = '2026-01-01T00:00:00Z';
const statusOf = (nodes: Node[], pods: Pod[]) => calculateStatus({ set, nodes, pods, hash: 'new', now }, 0);

it('counts nodes by what their Pods are', () => {
  const nodes = [
    ...['available', 'ready', 'old', 'empty'].map((name) => nodeOf(name)),
    nodeOf('tainted', [{ key: 'k', effect: 'NoSchedule' }]),
    nodeOf('foreign', [{ key: 'k', effect: 'NoSchedule' }]),
  ];
  const pods = [
    podOf('available', 'new', longAgo),
    podOf('ready', 'new', justNow),
    podOf('old', 'old'),
    podOf('tainted', 'new', longAgo),
  ];
  expect(statusOf(nodes, pods)).toEqual({
    observedGeneration: 2,
    desiredNumberScheduled: 4,
    currentNumberScheduled: 3,
    numberMisscheduled: 1,
    updatedNumberScheduled: 2,
    numberReady: 2,
    numberAvailable: 1,
    numberUnavailable: 3,
  });
});

it('takes the older of two Pods on a node, as there are while it surges', () => {
  const pods = [podOf('a', 'new', undefined, '2026-01-01T00:00:30Z'), podOf('a', 'old', longAgo)];
  expect(statusOf([nodeOf('a')], pods)).toMatchObject({ updatedNumberScheduled: 0, numberAvailable: 1 });
});
