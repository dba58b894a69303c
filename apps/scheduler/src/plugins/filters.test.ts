import type { Node, Pod } from '@tinkernetes/api';
import { makeNode, makePod, type PodShape } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';

interface Case {
  rule: string;
  nodes: Node[];
  pods?: Pod[];
  pod: PodShape;
  expected: Record<string, string>;
}

const affinityTo = (...matchExpressions: object[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
  },
});
const taint = (key: string, effect: string, value?: string) =>
  ({ spec: { taints: [{ key, effect, value }] } }) as never;
const hostPort = (port: number, more: object = {}) =>
  ({ ports: [{ containerPort: 80, hostPort: port, ...more }] }) as never;
const noPorts = "node(s) didn't have free ports for the requested pod ports";
const noAffinity = "node(s) didn't match Pod's node affinity/selector";

const cases: Case[] = [
  {
    rule: 'NodeResourcesFit: names each resource that is short',
    nodes: [makeNode('small', { allocatable: { cpu: '1', memory: '1Gi' } }), makeNode('large')],
    pod: { requests: { cpu: '2', memory: '2Gi' } },
    expected: { small: 'Insufficient cpu, Insufficient memory', large: 'ok' },
  },
  {
    rule: 'NodeResourcesFit: counts what runs on the node already',
    nodes: [makeNode('a'), makeNode('b')],
    pods: [makePod('busy', { node: 'a', requests: { cpu: '3' } })],
    pod: { requests: { cpu: '1500m' } },
    expected: { a: 'Insufficient cpu', b: 'ok' },
  },
  {
    rule: 'NodeResourcesFit: fills a node to the last thousandth',
    nodes: [makeNode('a')],
    pods: [makePod('busy', { node: 'a', requests: { cpu: '3999m' } })],
    pod: { requests: { cpu: '1m' } },
    expected: { a: 'ok' },
  },
  {
    rule: 'NodeResourcesFit: takes extended resources and Pod slots into account',
    nodes: [
      makeNode('gpu', { allocatable: { 'example.com/gpu': '1' } }),
      makeNode('full', { allocatable: { pods: '0' } }),
    ],
    pod: { requests: { 'example.com/gpu': '1' } },
    expected: { gpu: 'ok', full: 'Too many pods, Insufficient example.com/gpu' },
  },
  {
    rule: 'NodeResourcesFit: asks for the larger of init containers and the rest, sidecars on top',
    nodes: [makeNode('a', { allocatable: { cpu: '2' } }), makeNode('b', { allocatable: { cpu: '3' } })],
    pod: {
      requests: { cpu: '1' },
      spec: {
        initContainers: [
          { name: 'sidecar', image: 'x', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } },
          { name: 'init', image: 'x', resources: { requests: { cpu: '1500m' } } },
        ] as never,
      },
    },
    expected: { a: 'Insufficient cpu', b: 'ok' },
  },
  {
    rule: 'NodeName: only the node that is named',
    nodes: [makeNode('a'), makeNode('b')],
    pod: { spec: { nodeName: 'b' } },
    expected: { a: "node(s) didn't match the requested node name", b: 'ok' },
  },
  {
    rule: 'NodeUnschedulable: cordoned nodes are left alone',
    nodes: [makeNode('a', { spec: { unschedulable: true } }), makeNode('b')],
    pod: {},
    expected: { a: 'node(s) were unschedulable', b: 'ok' },
  },
  {
    rule: 'NodeUnschedulable: unless the Pod tolerates it',
    nodes: [makeNode('a', { spec: { unschedulable: true } })],
    pod: { spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] } },
    expected: { a: 'ok' },
  },
  {
    rule: 'TaintToleration: NoSchedule and NoExecute keep Pods off, PreferNoSchedule does not',
    nodes: [
      makeNode('a', taint('dedicated', 'NoSchedule', 'db')),
      makeNode('b', taint('broken', 'NoExecute')),
      makeNode('c', taint('slow', 'PreferNoSchedule')),
    ],
    pod: {},
    expected: {
      a: 'node(s) had untolerated taint(s)',
      b: 'node(s) had untolerated taint(s)',
      c: 'ok',
    },
  },
  {
    rule: 'TaintToleration: a toleration must match key, value and effect',
    nodes: [
      makeNode('a', taint('dedicated', 'NoSchedule', 'db')),
      makeNode('b', taint('dedicated', 'NoSchedule', 'web')),
    ],
    pod: {
      spec: { tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' }] },
    },
    expected: { a: 'ok', b: 'node(s) had untolerated taint(s)' },
  },
  {
    rule: 'NodeAffinity: nodeSelector and required terms must both hold',
    nodes: [
      makeNode('a', { labels: { disk: 'ssd', zone: 'z1' } }),
      makeNode('b', { labels: { disk: 'ssd', zone: 'z2' } }),
      makeNode('c', { labels: { disk: 'hdd', zone: 'z1' } }),
    ],
    pod: {
      spec: {
        nodeSelector: { disk: 'ssd' },
        affinity: affinityTo({ key: 'zone', operator: 'In', values: ['z1'] }) as never,
      },
    },
    expected: { a: 'ok', b: noAffinity, c: noAffinity },
  },
  {
    rule: 'NodeAffinity: compares numbers with Gt and Lt',
    nodes: [makeNode('a', { labels: { cores: '8' } }), makeNode('b', { labels: { cores: '16' } })],
    pod: { spec: { affinity: affinityTo({ key: 'cores', operator: 'Gt', values: ['8'] }) as never } },
    expected: { a: noAffinity, b: 'ok' },
  },
  {
    rule: 'NodePorts: a host port once a node',
    nodes: [makeNode('a'), makeNode('b')],
    pods: [makePod('web', { node: 'a', container: hostPort(8080) })],
    pod: { container: hostPort(8080) },
    expected: { a: noPorts, b: 'ok' },
  },
  {
    rule: 'NodePorts: protocols and addresses are told apart',
    nodes: [makeNode('a')],
    pods: [makePod('web', { node: 'a', container: hostPort(53, { hostIP: '127.0.0.1', protocol: 'TCP' }) })],
    pod: { container: hostPort(53, { protocol: 'UDP' }) },
    expected: { a: 'ok' },
  },
  {
    rule: 'NodePorts: 0.0.0.0 is every address',
    nodes: [makeNode('a')],
    pods: [makePod('web', { node: 'a', container: hostPort(53, { hostIP: '127.0.0.1' }) })],
    pod: { container: hostPort(53) },
    expected: { a: noPorts },
  },
];

it.each(cases)('$rule', ({ nodes, pods, pod, expected }) => {
  expect(new TestCluster({ nodes, pods }).verdicts(makePod('new', pod))).toEqual(expected);
});

it('counts the reasons of all nodes in one sentence', () => {
  const cluster = new TestCluster({
    nodes: [
      makeNode('a', taint('node-role.kubernetes.io/control-plane', 'NoSchedule')),
      makeNode('b', { allocatable: { cpu: '1' } }),
      makeNode('c', { allocatable: { cpu: '1', memory: '1Gi' } }),
    ],
  });
  expect(cluster.message(makePod('new', { requests: { cpu: '2', memory: '2Gi' } }))).toBe(
    '0/3 nodes are available: 1 Insufficient memory, ' +
      '1 node(s) had untolerated taint(s), 2 Insufficient cpu.',
  );
});

it('looks only at the nodes that required terms name', () => {
  const cluster = new TestCluster({ nodes: [makeNode('a'), makeNode('b')] });
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['b'] }];
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  } as never;
  expect(cluster.place(makePod('new', { spec: { affinity } }))).toMatchObject({
    kind: 'found',
    node: 'b',
    feasible: 1,
  });
});
