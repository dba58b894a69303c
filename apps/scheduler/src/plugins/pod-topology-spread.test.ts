import type { KubeObject, Pod } from '@tinkernetes/api';
import { makeNode, makePod, type NodeShape } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';

const zone = 'topology.kubernetes.io/zone';
const inZone = (name: string, value: string, more: NodeShape = {}) =>
  makeNode(name, { ...more, labels: { [zone]: value, ...more.labels } });
const web = (name: string, node?: string) => makePod(name, { node, labels: { app: 'web' } });
const spread = (more: object = {}) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: zone,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
      ...more,
    },
  ] as never,
});
const reason = "node(s) didn't match pod topology spread constraints";

const newWeb = (more: object = {}, spec: object = {}): Pod =>
  makePod('new', { labels: { app: 'web' }, spec: { ...spread(more), ...spec } });
const nodes = [inZone('a1', 'a'), inZone('a2', 'a'), inZone('b1', 'b'), makeNode('nowhere')];

it.each([
  {
    rule: 'refuses domains that would get too far ahead, and nodes without the label',
    pods: [web('1', 'a1')],
    pod: newWeb(),
    expected: { a1: reason, a2: reason, b1: 'ok', nowhere: `${reason} (missing required label)` },
  },
  {
    rule: 'allows as much skew as it is told',
    pods: [web('1', 'a1')],
    pod: newWeb({ maxSkew: 2 }),
    expected: { a1: 'ok', a2: 'ok', b1: 'ok', nowhere: `${reason} (missing required label)` },
  },
  {
    rule: 'counts the fewest as 0 while there are fewer domains than minDomains',
    pods: [web('1', 'a1'), web('2', 'b1')],
    pod: newWeb({ minDomains: 3 }),
    expected: { a1: reason, a2: reason, b1: reason, nowhere: `${reason} (missing required label)` },
  },
  {
    rule: 'does not count Pods of other labels, or that are going away',
    pods: [
      makePod('other', { node: 'a1', labels: { app: 'db' } }),
      {
        ...web('dying', 'a1'),
        metadata: { ...web('dying').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      } as Pod,
    ],
    pod: newWeb(),
    expected: { a1: 'ok', a2: 'ok', b1: 'ok', nowhere: `${reason} (missing required label)` },
  },
  {
    rule: 'leaves out domains that the Pod’s node selector excludes, when the policy honors it',
    pods: [web('1', 'a1')],
    pod: newWeb({}, { nodeSelector: { [zone]: 'a' } }),
    expected: {
      a1: 'ok',
      a2: 'ok',
      b1: "node(s) didn't match Pod's node affinity/selector",
      nowhere: "node(s) didn't match Pod's node affinity/selector",
    },
  },
  {
    rule: 'counts them when the policy ignores it',
    pods: [web('1', 'a1')],
    pod: newWeb({ nodeAffinityPolicy: 'Ignore' }, { nodeSelector: { [zone]: 'a' } }),
    expected: {
      a1: reason,
      a2: reason,
      b1: "node(s) didn't match Pod's node affinity/selector",
      nowhere: "node(s) didn't match Pod's node affinity/selector",
    },
  },
])('$rule', ({ pods, pod, expected }) => {
  expect(new TestCluster({ nodes, pods }).verdicts(pod)).toEqual(expected);
});

it('prefers emptier domains when the constraint is soft', () => {
  const cluster = new TestCluster({ nodes: nodes.slice(0, 3), pods: [web('1', 'a1'), web('2', 'a2')] });
  const scores = cluster.scores(newWeb({ whenUnsatisfiable: 'ScheduleAnyway' }), 'PodTopologySpread');
  expect(scores).toEqual({ a1: 0, a2: 0, b1: 100 });
});

it('spreads the Pods of a Service over nodes by default', () => {
  const service = {
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { app: 'web' } },
  };
  const cluster = new TestCluster({
    nodes: [makeNode('a'), makeNode('b'), makeNode('c')],
    objects: [service as KubeObject],
  });
  const placed = ['1', '2', '3', '4', '5', '6'].map((name) => cluster.run(web(name)));
  expect([...placed].sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});
