import { ResourceQuotas } from '@tinkernetes/api';
import type { Pod, ResourceQuota } from '@tinkernetes/api';
import {
  isUpdatable,
  Quantity,
  quantitiesOf,
  quotaCovers,
  usageOf,
  type ResourceQuantities,
} from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../../contracts';
import { notAdmitted } from '../answers';
import { limitedBy, refusalOf, unstated } from './check';

interface Charge {
  readonly quota: ResourceQuota;
  readonly delta: ResourceQuantities;
}

/**
 * Charges what is created to the namespace's quotas before it is written, so that parallel requests can't exceed them
 * together; the quota controller gives back what was not written after all and what is deleted.
 * Source: https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export function resourceQuota(stores: StoreRegistry): AdmissionPlugin {
  const quotas = stores.for(ResourceQuotas);
  /** Writers of one quota wait for each other here, so that they don't meet as conflicts in storage. */
  const turns = new Map<string, Promise<void>>();
  return {
    name: 'ResourceQuota',
    handles: (a) =>
      a.subresource === '' &&
      a.namespace !== '' &&
      (a.operation === 'CREATE' || (a.operation === 'UPDATE' && isUpdatable(a.group, a.resource))),
    validate: async (a) => {
      const all = quotas.list(a.namespace);
      if (all.length === 0) return;
      const usage = usageDelta(a);
      const charges: Charge[] = [];
      for (const quota of all) {
        if (!a.object || !quotaCovers(quota, a, a.object)) continue;
        const delta = limitedBy(quota, usage);
        if (a.resource === 'pods' && a.group === '') mustState(a, quota);
        if (delta.size > 0) charges.push({ quota, delta });
      }
      // None is charged when one is known to refuse.
      for (const { quota, delta } of charges) refuse(a, refusalOf(quota, delta));
      if (a.dryRun) return;
      for (const charge of charges) {
        await inTurn(`${a.namespace}/${charge.quota.metadata.name ?? ''}`, () => apply(a, charge));
      }
    },
  };

  async function inTurn(key: string, work: () => Promise<void>): Promise<void> {
    const before = turns.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    turns.set(key, settled);
    try {
      await mine;
    } finally {
      if (turns.get(key) === settled) turns.delete(key);
    }
  }

  /** The check is repeated on the version that is written: others may have been charged in between. */
  async function apply(a: AdmissionAttributes, { quota, delta }: Charge): Promise<void> {
    const charged = (current: ResourceQuota): ResourceQuota => {
      refuse(a, refusalOf(current, delta));
      const used = quantitiesOf(current.status?.used);
      for (const [name, more] of delta) used.set(name, (used.get(name) ?? Quantity.zero).add(more));
      return { ...current, status: { ...current.status, used: textOf(used) } };
    };
    const info = { fieldManager: 'kube-apiserver', subresource: 'status' };
    await quotas.modify(quota.metadata.name ?? '', a.namespace, charged, info);
  }
}

function usageDelta(a: AdmissionAttributes): Map<string, Quantity> {
  const usage = a.object ? usageOf(a.group, a.resource, a.object) : new Map<string, Quantity>();
  if (!a.oldObject) return usage;
  for (const [name, before] of usageOf(a.group, a.resource, a.oldObject)) {
    const more = (usage.get(name) ?? Quantity.zero).sub(before);
    // What grew is charged; what shrank the controller sees.
    if (more.sign > 0) usage.set(name, more);
    else usage.delete(name);
  }
  return usage;
}

function mustState(a: AdmissionAttributes, quota: ResourceQuota): void {
  const missing = unstated(quota, a.object as Pod);
  if (missing !== undefined) throw notAdmitted(a, `failed quota: ${quota.metadata.name ?? ''}: ${missing}`);
}

function refuse(a: AdmissionAttributes, reason: string | undefined): void {
  if (reason !== undefined) throw notAdmitted(a, reason);
}

const textOf = (quantities: ResourceQuantities): Record<string, string> =>
  Object.fromEntries([...quantities].map(([name, quantity]) => [name, quantity.toString()]));
