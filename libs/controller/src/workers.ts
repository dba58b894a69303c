import { isTurnLong, letOthersRun, withLinkedSignal, type Logger } from '@tinkernetes/component-base';
import { isConflict } from '@tinkernetes/apimachinery';
import type { RateLimitingQueue, WorkItem } from '@tinkernetes/workqueue';
import { TerminalError, type ReconcileResult, type Reconciler } from './types';
import type { CaughtUp, CaughtUpWithServer } from './cache-barrier';
import { collectWrites } from './write-tracking';

export interface RunWorkersOptions {
  queue: RateLimitingQueue;
  reconciler: Reconciler;
  /** How many keys may run at once. Upstream's default for most controllers is 5. */
  concurrency?: number;
  logger: Logger;
  /** No key is started after it aborts; those that run are told and waited for. */
  signal: AbortSignal;
  /** `createCacheBarrier`: waits until the caches have what the key's last run, perhaps elsewhere, wrote. */
  caughtUp?: CaughtUp;
  /** `createServerBarrier`, for keys that a worker died over. */
  caughtUpWithServer?: CaughtUpWithServer;
}

/**
 * Works on a queue until the signal aborts; then shuts the queue down and resolves when the last reconcile has ended.
 * The policy of all controllers: an error means again with back-off, a TerminalError means never again, and
 * `requeueAfterMs` forgets the back-off and adds the key later.
 */
export async function runWorkers(options: RunWorkersOptions): Promise<void> {
  const { queue, concurrency = 5, signal } = options;
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= queue.shutDown());
  const onAbort = () => void stop();
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.all(Array.from({ length: concurrency }, () => work(options)));
  } finally {
    signal.removeEventListener('abort', onAbort);
    await stop();
  }
}

async function work(options: RunWorkersOptions): Promise<void> {
  const { queue, signal } = options;
  for (let item = await queue.get(); item; item = await queue.get()) {
    // Keys that have nothing to wait for would follow each other in one turn, hundreds after a node's event.
    if (isTurnLong()) await letOthersRun();
    if (signal.aborted) {
      item.done();
      return;
    }
    const running = item;
    await withLinkedSignal([signal, running.signal], (ended) => runItem(options, running, ended));
  }
}

async function runItem(options: RunWorkersOptions, item: WorkItem, signal: AbortSignal): Promise<void> {
  const { reconciler, caughtUp, caughtUpWithServer, logger } = options;
  const { wroteResourceVersion } = await collectWrites(item, async () => {
    const outcome = await attempt(async () => {
      if (item.minResourceVersion && caughtUp) await caughtUp(item.minResourceVersion, signal);
      if (item.isTakenOver) await caughtUpWithServer?.(item.key, signal);
      return (await reconciler.reconcile(item.key, { signal })) ?? {};
    });
    // A key whose lock was lost belongs to another worker now: it decides what happens next.
    if (item.isHeld()) settle(options, item.key, outcome);
    else logger.warn({ controller: reconciler.name, key: item.key }, 'lost the key while working on it');
  });
  item.done({ wroteResourceVersion });
}

async function attempt(work: () => Promise<ReconcileResult>): Promise<Outcome> {
  try {
    return { result: await work() };
  } catch (error) {
    return { error };
  }
}

type Outcome = { result: ReconcileResult } | { error: unknown };

function settle(
  { queue, reconciler, logger, signal }: RunWorkersOptions,
  key: string,
  outcome: Outcome,
): void {
  if ('result' in outcome) {
    queue.forget(key);
    if (outcome.result.requeueAfterMs !== undefined) queue.addAfter(key, outcome.result.requeueAfterMs);
    return;
  }
  if (signal.aborted) return;
  const { error } = outcome;
  const fields = { controller: reconciler.name, key, err: error };
  if (error instanceof TerminalError) {
    queue.forget(key);
    logger.error(fields, 'reconcile failed for good');
    return;
  }
  // A conflict is the ordinary sign of a cache that lags behind; the next run sees the newer object.
  if (isConflict(error)) logger.debug(fields, 'reconcile met a newer object, trying again');
  else logger.warn(fields, 'reconcile failed, trying again');
  queue.addRateLimited(key);
}
