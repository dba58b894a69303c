import { loadDiscovery, type APIResourceFact } from '@tinkernetes/api';
import type { ResourceTable } from '../registry/generic/resource-table';
import type { ServedResource } from '../registry/generic/served-resource';

interface GroupVersion {
  groupVersion: string;
  version: string;
}
export interface APIGroup {
  name: string;
  versions: GroupVersion[];
  preferredVersion: GroupVersion;
}

/** Groups in upstream's order, custom ones after them by name, with versions in order of preference. */
export function apiGroups(table: ResourceTable): APIGroup[] {
  const facts = loadDiscovery()['/apis'] as unknown as { groups: APIGroup[] };
  const builtIn = facts.groups.map(({ name, versions, preferredVersion }) => ({
    name,
    versions,
    preferredVersion,
  }));
  const known = new Set(builtIn.map(({ name }) => name));
  const custom = new Map<string, Set<string>>();
  for (const { descriptor } of table.all()) {
    if (descriptor.group === '' || known.has(descriptor.group)) continue;
    const versions = custom.get(descriptor.group) ?? new Set();
    custom.set(descriptor.group, versions.add(descriptor.version));
  }
  const customGroups = [...custom]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, versions]) => {
      const ordered = [...versions]
        .sort(compareVersions)
        .map((version) => ({ groupVersion: `${name}/${version}`, version }));
      return { name, versions: ordered, preferredVersion: ordered[0] ?? { groupVersion: name, version: '' } };
    });
  return [...builtIn, ...customGroups];
}

/**
 * v2 before v1 before v1beta2 before v1alpha1 before anything else by name. Source:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
 */
function compareVersions(a: string, b: string): number {
  const parse = (v: string) => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(v);
    if (!match) return undefined;
    const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const left = parse(a);
  const right = parse(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1;
  for (let i = 0; i < 3; i++) {
    const difference = (right[i] ?? 0) - (left[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** `/api/v1` and `/apis/{group}/{version}`; undefined where nothing is served. */
export function apiResourceList(table: ResourceTable, group: string, version: string): object | undefined {
  const path = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const fact = loadDiscovery()[path];
  if (fact) return fact;
  if (!table.hasGroupVersion(group, version)) return undefined;
  const resources = [...table.all()]
    .filter(({ descriptor }) => descriptor.group === group && descriptor.version === version)
    .flatMap(resourceFacts)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources };
}

function resourceFacts(resource: ServedResource): APIResourceFact[] {
  const { descriptor, shortNames, categories } = resource;
  const main: APIResourceFact = {
    name: descriptor.resource,
    singularName: resource.singular,
    namespaced: descriptor.namespaced,
    kind: descriptor.kind,
    verbs: [...resource.verbs],
    ...(shortNames.length ? { shortNames: [...shortNames] } : undefined),
    ...(categories.length ? { categories: [...categories] } : undefined),
    ...(resource.storageVersionHash ? { storageVersionHash: resource.storageVersionHash } : undefined),
  };
  const subresources = [...resource.subresources.values()].map((sub): APIResourceFact => ({
    name: `${descriptor.resource}/${sub.name}`,
    singularName: '',
    namespaced: descriptor.namespaced,
    ...(sub.group !== descriptor.group || sub.version !== descriptor.version
      ? { group: sub.group, version: sub.version }
      : undefined),
    kind: sub.kind,
    verbs: [...sub.verbs],
  }));
  return [main, ...subresources];
}
