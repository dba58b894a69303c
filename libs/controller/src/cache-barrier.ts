import type { KubeObject } from '@tinkernetes/api';
import { splitKey } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Clock } from '@tinkernetes/component-base';
import type { SharedInformer } from '@tinkernetes/informers';
import { parseRevisions } from '@tinkernetes/workqueue';
import { groupResourceOf } from './write-tracking';

/** Longer than this no cache is waited for: guarded writes make a stale run harmless, a stuck one helps nobody. */
const maxWaitMs = 5000;

/** Resolves when caches hold what a key's run must have seen (`WorkItem.minResourceVersion`). */
export type CaughtUp = (wrote: string, signal: AbortSignal) => Promise<void>;

/**
 * For `runWorkers`: the caches of a controller must have seen its own writes before the key runs again, in whichever
 * process that was. Writes to resources without one of these informers are not waited for.
 */
export function createCacheBarrier(informers: Iterable<SharedInformer<KubeObject>>, clock: Clock): CaughtUp {
  return async (wrote, signal) => {
    const versions = parseRevisions(wrote);
    // One resource may be watched in several ways, and new ones come: the collector's custom kinds.
    const waits = [...informers].flatMap((informer) => {
      const version = versions.get(groupResourceOf(informer.descriptor));
      return version === undefined ? [] : [reach(informer, version, { clock, signal })];
    });
    await Promise.all(waits);
  };
}

/** Resolves when caches hold whatever anybody wrote about a key before the call. */
export type CaughtUpWithServer = (key: string, signal: AbortSignal) => Promise<void>;

/**
 * For keys whose last run ended before it could say what it wrote (its process died): a cache that lags behind would
 * have the same done once more. The server is asked, and the caches must have got as far as the newest object that it
 * has in the key's namespace. Deletions are not waited for: one more of those does no harm.
 */
export function createServerBarrier(
  informers: Iterable<SharedInformer<KubeObject>>,
  { client, clock }: { client: Client; clock: Clock },
): CaughtUpWithServer {
  return async (key, signal) => {
    const { namespace } = splitKey(key);
    const wait = async (informer: SharedInformer<KubeObject>) => {
      const { descriptor } = informer;
      const scope = descriptor.namespaced ? { namespace } : {};
      const { items } = await client.for(descriptor).list({ ...scope, metadataOnly: true, signal });
      const versions = items.map(({ metadata }) => BigInt(metadata.resourceVersion ?? '0'));
      const newest = versions.reduce((a, b) => (a > b ? a : b), 0n);
      await reach(informer, newest, { clock, signal });
    };
    await Promise.all([...informers].map(wait));
  };
}

function reach(
  informer: SharedInformer<KubeObject>,
  version: bigint,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const reached = () => {
    const synced = informer.lastSyncResourceVersion;
    return /^\d+$/.test(synced) && BigInt(synced) >= version;
  };
  if (reached()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      remove();
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const check = () => {
      if (reached()) finish(resolve);
    };
    const onAbort = () => finish(() => reject(signal.reason as Error));
    const timer = clock.setTimeout(() => finish(resolve), maxWaitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    // The objects that are there already are told first; `check` then finds nothing new.
    let remove: () => void = () => undefined;
    remove = informer.addEventHandler({
      updated: check,
      deleted: check,
      added: (_, initial) => !initial && check(),
    });
  });
}
