import { AsyncLocalStorage } from 'node:async_hooks';
import type { KubeObject, ResourceDescriptor, Status } from '@tinkernetes/api';
import type { CallOptions, Client, ResourceClient } from '@tinkernetes/client';
import { formatRevisions, type WorkItem } from '@tinkernetes/workqueue';

/** One run of a key, as far as what it calls needs to know of it. */
interface RunOfKey {
  /** Highest resourceVersion written, by resource (`pods`, `replicasets.apps`). */
  readonly writes: Map<string, bigint>;
  isHeld(): boolean;
  /** Aborted when the key is lost. */
  readonly signal: AbortSignal;
}

const current = new AsyncLocalStorage<RunOfKey>();

/** Whether the caller was called by a worker, to bring a key in line; not by an informer or a timer. */
export const isInsideRun = (): boolean => current.getStore() !== undefined;

/** The key was given to another worker, while this one stood still: it must not write any more. */
export class KeyLostError extends Error {
  override readonly name = 'KeyLostError';
  constructor() {
    super('the key belongs to another worker now');
  }
}

/** `deployments.apps`: a resource's name over all groups. */
export function groupResourceOf({ group, resource }: ResourceDescriptor<unknown>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/**
 * Runs one reconcile and tells what it wrote through a tracked client, for the key's next run:
 * `pods=120,replicasets.apps=125`. By resource, since each cache only hears of its own.
 */
export async function collectWrites<R>(
  item: Pick<WorkItem, 'isHeld' | 'signal'>,
  work: () => Promise<R>,
): Promise<{ outcome: R; wroteResourceVersion?: string }> {
  const writes = new Map<string, bigint>();
  const outcome = await current.run({ writes, isHeld: () => item.isHeld(), signal: item.signal }, work);
  return { outcome, wroteResourceVersion: writes.size > 0 ? formatRevisions(writes) : undefined };
}

/**
 * A client whose writes are noted for the reconcile that makes them, so that the key's next run can wait for them. A
 * worker that has lost its key writes nothing more (KeyLostError).
 */
export function trackWrites(client: Client): Client {
  return {
    ...client,
    for: <T extends KubeObject>(descriptor: ResourceDescriptor<T>) => trackResource(client.for(descriptor)),
  };
}

function trackResource<T extends KubeObject>(resource: ResourceClient<T>): ResourceClient<T> {
  const name = groupResourceOf(resource.descriptor);
  const note = <R extends T | Status>(written: R): R => {
    const run = current.getStore();
    const version = written.metadata?.resourceVersion;
    if (!run || !version || !/^\d+$/.test(version)) return written;
    const number = BigInt(version);
    if (number > (run.writes.get(name) ?? 0n)) run.writes.set(name, number);
    return written;
  };
  /** A write of the key's owner, which breaks off when the key is lost. */
  const owned = async <O extends CallOptions, R>(
    options: O | undefined,
    write: (options: O) => Promise<R>,
  ): Promise<R> => {
    const run = current.getStore();
    if (run?.isHeld() === false) throw new KeyLostError();
    return write({ ...options, signal: options?.signal ?? run?.signal } as O);
  };
  return {
    ...resource,
    create: (object, options) => owned(options, async (o) => note(await resource.create(object, o))),
    update: (object, options) => owned(options, async (o) => note(await resource.update(object, o))),
    updateStatus: (object, options) =>
      owned(options, async (o) => note(await resource.updateStatus(object, o))),
    patch: (object, change, options) =>
      owned(options, async (o) => note(await resource.patch(object, change, o))),
    delete: (object, options) => owned(options, async (o) => note(await resource.delete(object, o))),
    deleteCollection: (options) => owned(options, (o) => resource.deleteCollection(o)),
    updateScale: (object, scale, options) => owned(options, (o) => resource.updateScale(object, scale, o)),
    subresource: (method, object, subresource, body, options) =>
      method === 'GET'
        ? resource.subresource(method, object, subresource, body, options)
        : owned(options, (o) => resource.subresource(method, object, subresource, body, o)),
  };
}
