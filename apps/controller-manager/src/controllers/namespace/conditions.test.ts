import { ConfigMaps, Deployments } from '@tinkernetes/api';
import { contentConditions, type ContentReport } from './conditions';

const report = (change: Partial<ContentReport> = {}): ContentReport => ({
  failures: [],
  discoveryFailures: [],
  remaining: [],
  waitMs: 0,
  ...change,
});
const maps = { ...ConfigMaps, verbs: [] };
const deployments = { ...Deployments, verbs: [] };

it.each([
  ['none where nothing is left', report(), []],
  [
    'what could not be found out',
    report({ discoveryFailures: ['/apis/a/v1'] }),
    [
      'NamespaceDeletionDiscoveryFailure DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: a/v1: stale GroupVersion discovery: a/v1',
    ],
  ],
  [
    'what could not be deleted',
    report({ failures: ['configmaps: no'] }),
    [
      'NamespaceDeletionContentFailure ContentDeletionFailed: Failed to delete all resource types, 1 remaining: configmaps: no',
    ],
  ],
  [
    'what is left, and which finalizers hold it',
    report({
      remaining: [
        { resource: deployments, count: 2, finalizers: ['a.test/x', 'a.test/x'] },
        { resource: maps, count: 1, finalizers: [] },
      ],
    }),
    [
      'NamespaceContentRemaining SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances, deployments.apps has 2 resource instances',
      'NamespaceFinalizersRemaining SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a.test/x in 2 resource instances',
    ],
  ],
])('a Namespace that goes tells %s', (_, given, expected) => {
  const conditions = contentConditions(given);
  expect(conditions).toHaveLength(5);
  const holding = conditions.filter(({ status }) => status === 'True');
  expect(holding.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual(expected);
});
