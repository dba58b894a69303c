import { AsyncLocalStorage } from 'node:async_hooks';
import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { Client, ResourceClient } from '@tinkernetes/client';

interface Writes {
  highest: bigint;
}

const current = new AsyncLocalStorage<Writes>();

/** Runs one reconcile and tells the highest resourceVersion that it wrote through a tracked client. */
export async function collectWrites<R>(
  work: () => Promise<R>,
): Promise<{ outcome: R; wroteResourceVersion?: string }> {
  const writes: Writes = { highest: 0n };
  const outcome = await current.run(writes, work);
  return { outcome, wroteResourceVersion: writes.highest > 0n ? String(writes.highest) : undefined };
}

/** A client whose writes are noted for the reconcile that makes them, so that the key's next run can wait for them. */
export function trackWrites(client: Client): Client {
  return {
    ...client,
    for: <T extends KubeObject>(descriptor: ResourceDescriptor<T>) => trackResource(client.for(descriptor)),
  };
}

function trackResource<T extends KubeObject>(resource: ResourceClient<T>): ResourceClient<T> {
  return {
    ...resource,
    create: async (...args) => note(await resource.create(...args)),
    update: async (...args) => note(await resource.update(...args)),
    updateStatus: async (...args) => note(await resource.updateStatus(...args)),
    patch: async (...args) => note(await resource.patch(...args)),
  };
}

function note<T extends KubeObject>(object: T): T {
  const writes = current.getStore();
  const version = object.metadata.resourceVersion;
  if (writes && version && /^\d+$/.test(version)) {
    const number = BigInt(version);
    if (number > writes.highest) writes.highest = number;
  }
  return object;
}
