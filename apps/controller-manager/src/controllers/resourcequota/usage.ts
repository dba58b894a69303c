import type { KubeObject, ResourceQuota } from '@tinkernetes/api';
import { Quantity, quotaCovers, usageOf } from '@tinkernetes/apimachinery';

/** Objects of one resource in the quota's namespace. */
export interface CountedObjects {
  group: string;
  resource: string;
  objects: readonly KubeObject[];
}

/** What a quota's `hard` names come to. */
export function usedOf(quota: ResourceQuota, counted: readonly CountedObjects[]): Record<string, string> {
  const used = new Map(Object.keys(quota.spec?.hard ?? {}).map((name) => [name, Quantity.zero]));
  for (const { group, resource, objects } of counted) {
    for (const object of objects) {
      if (!quotaCovers(quota, { group, resource }, object)) continue;
      for (const [name, quantity] of usageOf(group, resource, object)) {
        const sum = used.get(name);
        if (sum) used.set(name, sum.add(quantity));
      }
    }
  }
  return Object.fromEntries([...used].map(([name, quantity]) => [name, quantity.toString()]));
}

const ofPods = /^(pods|cpu|memory|ephemeral-storage|hugepages-.*|requests\.(?!storage$).*|limits\..*)$/;
const ofClaims = /(^|\/)(requests\.storage|persistentvolumeclaims)$/;

/** `resource.group` of what has to be counted for a name in `hard`. */
export function resourceOfName(name: string): string {
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (ofClaims.test(name)) return 'persistentvolumeclaims';
  if (ofPods.test(name)) return 'pods';
  return name.startsWith('services.') ? 'services' : name;
}
