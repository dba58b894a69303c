import type { NamespaceCondition } from '@tinkernetes/api';
import type { DiscoveredResource } from '../shared/discovered-resources';

/** What was found when a Namespace was emptied. */
export interface ContentReport {
  /** Deletions that failed, `resource: message`. */
  failures: string[];
  /** API paths that did not answer. */
  discoveryFailures: string[];
  remaining: Array<{ resource: DiscoveredResource; count: number; finalizers: string[] }>;
  /** When to look again, milliseconds. */
  waitMs: number;
}

const groupResource = ({ group, resource }: DiscoveredResource): string =>
  group ? `${resource}.${group}` : `${resource}.`;

/** In client-go's words, of which a version that does not answer is a stale one. */
const staleGroups = (paths: readonly string[]): string =>
  paths
    .map((path) => path.replace(/^\/apis?\//, ''))
    .sort()
    .map((groupVersion) => `${groupVersion}: stale GroupVersion discovery: ${groupVersion}`)
    .join(', ');

/** The five conditions that tell why a Namespace is still there. Source: namespace/deletion/status_condition_utils.go. */
export function contentConditions({
  failures,
  discoveryFailures,
  remaining,
}: ContentReport): NamespaceCondition[] {
  const content = remaining
    .map(({ resource, count }) => `${groupResource(resource)} has ${count} resource instances`)
    .sort();
  const finalizers = new Map<string, number>();
  for (const f of remaining.flatMap((r) => r.finalizers)) finalizers.set(f, (finalizers.get(f) ?? 0) + 1);
  const held = [...finalizers].sort().map(([name, count]) => `${name} in ${count} resource instances`);
  return [
    discoveryFailures.length > 0
      ? {
          type: 'NamespaceDeletionDiscoveryFailure',
          status: 'True',
          reason: 'DiscoveryFailed',
          message: `Discovery failed for some groups, ${discoveryFailures.length} failing: unable to retrieve the complete list of server APIs: ${staleGroups(discoveryFailures)}`,
        }
      : {
          type: 'NamespaceDeletionDiscoveryFailure',
          status: 'False',
          reason: 'ResourcesDiscovered',
          message: 'All resources successfully discovered',
        },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      status: 'False',
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    },
    failures.length > 0
      ? {
          type: 'NamespaceDeletionContentFailure',
          status: 'True',
          reason: 'ContentDeletionFailed',
          message: `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
        }
      : {
          type: 'NamespaceDeletionContentFailure',
          status: 'False',
          reason: 'ContentDeleted',
          message: 'All content successfully deleted, may be waiting on finalization',
        },
    content.length > 0
      ? {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${content.join(', ')}`,
        }
      : {
          type: 'NamespaceContentRemaining',
          status: 'False',
          reason: 'ContentRemoved',
          message: 'All content successfully removed',
        },
    held.length > 0
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        },
  ];
}
