import type { Pod, ResourceQuota } from '@tinkernetes/api';
import { Quantity, quantitiesOf, type ResourceQuantities } from '@tinkernetes/apimachinery';

/** Resources that every container has to state where a quota limits them. */
const mustBeStated = /^(cpu|memory|requests\.cpu|requests\.memory|limits\.cpu|limits\.memory)$/;

/** Why the quota can't take the request, in upstream's words; undefined when it can. `delta`: names the quota limits. */
export function refusalOf(quota: ResourceQuota, delta: ResourceQuantities): string | undefined {
  const name = quota.metadata.name ?? '';
  const hard = quantitiesOf(quota.status?.hard);
  const used = quantitiesOf(quota.status?.used);
  const unknown = [...delta.keys()].filter((resource) => !used.has(resource)).sort();
  if (unknown.length > 0) return `status unknown for quota: ${name}, resources: ${unknown.join(',')}`;
  const exceeded = [...delta]
    .filter(([resource, more]) => {
      const limit = hard.get(resource);
      return more.sign > 0 && limit && (used.get(resource) ?? Quantity.zero).add(more).compare(limit) > 0;
    })
    .map(([resource]) => resource)
    .sort();
  if (exceeded.length === 0) return undefined;
  const print = (values: ResourceQuantities) =>
    exceeded.map((resource) => `${resource}=${(values.get(resource) ?? Quantity.zero).toString()}`).join(',');
  return `exceeded quota: ${name}, requested: ${print(delta)}, used: ${print(used)}, limited: ${print(hard)}`;
}

/** What the quota limits of the usage. */
export function limitedBy(quota: ResourceQuota, usage: ResourceQuantities): Map<string, Quantity> {
  const hard = quota.status?.hard ?? {};
  return new Map([...usage].filter(([resource]) => Object.hasOwn(hard, resource)));
}

/** `must specify requests.cpu for: main,side`, for a Pod that leaves open what the quota limits. */
export function unstated(quota: ResourceQuota, { spec }: Pod): string | undefined {
  if (!spec) return undefined;
  const missing = Object.keys(quota.status?.hard ?? {})
    .filter((resource) => mustBeStated.test(resource))
    .sort()
    .flatMap((resource) => {
      const [kind, name] = resource.startsWith('limits.')
        ? (['limits', resource.slice('limits.'.length)] as const)
        : (['requests', resource.replace('requests.', '')] as const);
      if (spec.resources?.[kind]?.[name] !== undefined) return [];
      const containers = [...spec.containers, ...(spec.initContainers ?? [])]
        .filter((container) => container.resources?.[kind]?.[name] === undefined)
        .map((container) => container.name);
      return containers.length > 0 ? [`${resource} for: ${containers.join(',')}`] : [];
    });
  return missing.length > 0 ? `must specify ${missing.join('; ')}` : undefined;
}
