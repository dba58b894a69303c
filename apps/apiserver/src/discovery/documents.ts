import { APIServices, loadDiscovery, type APIResourceFact } from '@tinkernetes/api';
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

/** Groups that only custom resources or other servers have come in by these, as upstream registers them. */
const customPriorities = { groupPriorityMinimum: 1000, versionPriority: 100 };

interface Served {
  group: string;
  version: string;
  groupPriority: number;
  versionPriority: number;
}

/** The group that registers the others always comes first. */
const firstGroup = 'apiregistration.k8s.io';

/**
 * Groups by their APIServices' priorities, with versions in order of preference. Source:
 * kube-aggregator/pkg/apiserver/handler_apis.go.
 */
export function apiGroups(table: ResourceTable): APIGroup[] {
  const byGroup = new Map<string, Served[]>();
  const all = servedVersions(table).sort(
    (a, b) =>
      b.groupPriority - a.groupPriority || (`${a.version}.${a.group}` < `${b.version}.${b.group}` ? -1 : 1),
  );
  for (const served of all) {
    const versions = byGroup.get(served.group);
    if (versions) versions.push(served);
    else byGroup.set(served.group, [served]);
  }
  const first = byGroup.get(firstGroup);
  byGroup.delete(firstGroup);
  return [...(first ? [[firstGroup, first] as const] : []), ...byGroup].map(([name, versions]) => {
    const ordered = versions
      .sort((a, b) => b.versionPriority - a.versionPriority || compareVersions(a.version, b.version))
      .map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: ordered, preferredVersion: ordered[0] ?? { groupVersion: name, version: '' } };
  });
}

function servedVersions(table: ResourceTable): Served[] {
  const services = table.for(APIServices);
  const out = new Map<string, Served>();
  const add = (group: string, version: string) => {
    const name = `${version}.${group}`;
    if (group === '' || out.has(name)) return;
    const { groupPriorityMinimum, versionPriority } = services.peek(name)?.spec ?? customPriorities;
    out.set(name, { group, version, groupPriority: groupPriorityMinimum, versionPriority });
  };
  for (const { name, versions } of (loadDiscovery()['/apis'] as unknown as { groups: APIGroup[] }).groups) {
    for (const { version } of versions) add(name, version);
  }
  for (const { descriptor } of table.all()) add(descriptor.group, descriptor.version);
  for (const { spec } of services.list()) if (spec.service) add(spec.group ?? '', spec.version ?? '');
  return [...out.values()];
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
  if (fact) return inFieldOrder(fact as unknown as APIResourceListFact);
  if (!table.hasGroupVersion(group, version)) return undefined;
  const resources = [...table.all()]
    .filter(({ descriptor }) => descriptor.group === group && descriptor.version === version)
    .flatMap(resourceFacts)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources };
}

interface APIResourceListFact {
  kind: string;
  apiVersion?: string;
  groupVersion: string;
  resources: APIResourceFact[];
}

/** Facts are sorted by name; the API writes fields in the order of its types. */
function inFieldOrder({ kind, apiVersion, groupVersion, resources }: APIResourceListFact): object {
  return {
    kind,
    ...(apiVersion ? { apiVersion } : undefined),
    groupVersion,
    resources: resources.map(({ name, singularName, namespaced, group, version, kind, verbs, ...rest }) => ({
      name,
      singularName,
      namespaced,
      ...(group ? { group } : undefined),
      ...(version ? { version } : undefined),
      kind,
      verbs,
      ...(rest.shortNames ? { shortNames: rest.shortNames } : undefined),
      ...(rest.categories ? { categories: rest.categories } : undefined),
      ...(rest.storageVersionHash ? { storageVersionHash: rest.storageVersionHash } : undefined),
    })),
  };
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
