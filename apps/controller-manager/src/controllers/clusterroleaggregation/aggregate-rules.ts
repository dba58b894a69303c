import type { ClusterRole, PolicyRule } from '@tinkernetes/api';
import { selectorOf } from '@tinkernetes/apimachinery';
import { canonicalContent } from '../shared/content-hash';

/** The rules of all roles that the aggregation rule selects, by the roles' names, each rule once. */
export function aggregateRules(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(selectorOf);
  const rules = new Map<string, PolicyRule>();
  for (const selector of selectors) {
    const members = all
      .filter((r) => r.metadata.name !== role.metadata.name && selector.matches(r.metadata.labels))
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    for (const rule of members.flatMap((r) => r.rules ?? [])) rules.set(canonicalContent(rule), rule);
  }
  return [...rules.values()];
}
