import type { DaemonSet, Node, PodSpec, Taint } from '@tinkernetes/api';
import { decideForNode, specForNode, targetNode } from './nodes';

const setOf = (spec: Partial<PodSpec> = {}): DaemonSet => ({
  metadata: { name: 'agent' },
  spec: { selector: {}, template: { spec: { containers: [], ...spec } } },
});
const node = (taints: Taint[] = [], unschedulable = false): Node => ({
  metadata: { name: 'n1', labels: { zone: 'a' } },
  spec: { taints, unschedulable },
});
const runs = { shouldRun: true, shouldContinue: true };
const stays = { shouldRun: false, shouldContinue: true };
const goes = { shouldRun: false, shouldContinue: false };
const required = (key: string, value: string) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In' as const, values: [value] }] }],
      },
    },
  },
});

it.each([
  ['runs where nothing speaks against it', setOf(), node(), runs],
  ['runs on a node that is cordoned', setOf(), node([], true), runs],
  [
    'runs on a node that is not ready',
    setOf(),
    node([{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }]),
    runs,
  ],
  [
    'waits for a network that it does not bring itself',
    setOf(),
    node([{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }]),
    stays,
  ],
  [
    'runs without a network where it uses that of the host',
    setOf({ hostNetwork: true }),
    node([{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }]),
    runs,
  ],
  ['stays under a NoSchedule taint', setOf(), node([{ key: 'own', effect: 'NoSchedule' }]), stays],
  ['goes under a NoExecute taint', setOf(), node([{ key: 'own', effect: 'NoExecute' }]), goes],
  [
    'runs under a taint that it tolerates',
    setOf({ tolerations: [{ key: 'own', operator: 'Exists' }] }),
    node([{ key: 'own', effect: 'NoExecute' }]),
    runs,
  ],
  ['goes from a node that is not selected', setOf({ nodeSelector: { zone: 'b' } }), node(), goes],
  ['runs on one that its affinity selects', setOf(required('zone', 'a')), node(), runs],
  ['goes from one that its affinity does not select', setOf(required('zone', 'b')), node(), goes],
  ['goes from every node but the one that it names', setOf({ nodeName: 'n2' }), node(), goes],
])('a daemon Pod %s', (_, set, given, expected) => {
  expect(decideForNode(set, given)).toEqual(expected);
});

describe('specForNode', () => {
  it('binds every term of the affinity to the node, which a Pod without a node is then meant for', () => {
    const spec = specForNode({ containers: [], ...required('zone', 'a') }, 'n7');
    const terms =
      spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    expect(terms).toEqual([
      {
        matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }],
        matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n7'] }],
      },
    ]);
    expect(targetNode({ metadata: { name: 'p' }, spec })).toBe('n7');
    expect(targetNode({ metadata: { name: 'p' }, spec: { ...spec, nodeName: 'n8' } })).toBe('n8');
  });

  it('tolerates once what the template tolerates already', () => {
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' } as const;
    const { tolerations = [] } = specForNode({ containers: [], tolerations: [own] }, 'n1');
    expect(tolerations.filter(({ key }) => key === own.key)).toEqual([own]);
  });
});
