import { AsyncLocalStorage } from 'node:async_hooks';
import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { Client, ResourceClient } from '@tinkernetes/client';

/** Highest resourceVersion written, by resource (`pods`, `replicasets.apps`). */
type Writes = Map<string, bigint>;

const current = new AsyncLocalStorage<Writes>();

/** `deployments.apps`: a resource's name over all groups. */
export function groupResourceOf({ group, resource }: ResourceDescriptor<unknown>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/**
 * Runs one reconcile and tells what it wrote through a tracked client, for the key's next run:
 * `pods=120,replicasets.apps=125`. By resource, since each cache only hears of its own.
 */
export async function collectWrites<R>(
  work: () => Promise<R>,
): Promise<{ outcome: R; wroteResourceVersion?: string }> {
  const writes: Writes = new Map();
  const outcome = await current.run(writes, work);
  return { outcome, wroteResourceVersion: writes.size > 0 ? formatWrites(writes) : undefined };
}

function formatWrites(writes: Writes): string {
  return [...writes].map(([resource, version]) => `${resource}=${version}`).join(',');
}

export function parseWrites(text: string): Writes {
  const pairs = text.split(',').map((pair) => pair.split('='));
  return new Map(pairs.map(([resource = '', version = '0']) => [resource, BigInt(version)]));
}

/** A client whose writes are noted for the reconcile that makes them, so that the key's next run can wait for them. */
export function trackWrites(client: Client): Client {
  return {
    ...client,
    for: <T extends KubeObject>(descriptor: ResourceDescriptor<T>) => trackResource(client.for(descriptor)),
  };
}

function trackResource<T extends KubeObject>(resource: ResourceClient<T>): ResourceClient<T> {
  const name = groupResourceOf(resource.descriptor);
  const note = (object: T): T => {
    const writes = current.getStore();
    const version = object.metadata.resourceVersion;
    if (!writes || !version || !/^\d+$/.test(version)) return object;
    const number = BigInt(version);
    if (number > (writes.get(name) ?? 0n)) writes.set(name, number);
    return object;
  };
  return {
    ...resource,
    create: async (...args) => note(await resource.create(...args)),
    update: async (...args) => note(await resource.update(...args)),
    updateStatus: async (...args) => note(await resource.updateStatus(...args)),
    patch: async (...args) => note(await resource.patch(...args)),
  };
}
