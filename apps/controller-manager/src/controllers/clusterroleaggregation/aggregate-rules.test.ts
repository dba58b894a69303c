import type { ClusterRole, PolicyRule } from '@tinkernetes/api';
import { aggregateRules } from './aggregate-rules';

const rule = (resource: string): PolicyRule => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]): ClusterRole => ({
  metadata: { name, labels },
  rules: resources.map(rule),
});
const sum = (...clusterRoleSelectors: object[]): ClusterRole => ({
  metadata: { name: 'sum', labels: { part: 'a' } },
  aggregationRule: { clusterRoleSelectors },
  rules: [rule('own')],
});
const a = { matchLabels: { part: 'a' } };
const b = { matchLabels: { part: 'b' } };

it.each<[string, ClusterRole, ClusterRole[], string[]]>([
  [
    'those of the roles that are selected, by their names',
    sum(a),
    [role('2', { part: 'a' }, 'y'), role('1', { part: 'a' }, 'x'), role('3', { part: 'b' }, 'z')],
    ['x', 'y'],
  ],
  [
    'those of all selectors',
    sum(b, a),
    [role('1', { part: 'a' }, 'x'), role('2', { part: 'b' }, 'y')],
    ['y', 'x'],
  ],
  ['each once', sum(a), [role('1', { part: 'a' }, 'x'), role('2', { part: 'a' }, 'x')], ['x']],
  ['none of its own', sum(a), [sum(a)], []],
  ['none where nothing is selected', sum(), [role('1', { part: 'a' }, 'x')], []],
])('a role has %s', (_, of, all, resources) => {
  expect(aggregateRules(of, all)).toEqual(resources.map(rule));
});
