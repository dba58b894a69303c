import { isTurnLong, letOthersRun } from '@tinkernetes/component-base';

/** client-go's SlowStartInitialBatchSize. */
const initialBatchSize = 1;

export interface SlowStartResult {
  successes: number;
  /** The first failure; batches after the one it happened in were not tried. */
  error?: unknown;
}

/**
 * Calls `work` up to `count` times in batches of 1, 2, 4 …, each in parallel, and stops after a batch with a failure:
 * so that a quota or a broken template costs one request, not hundreds.
 * Source: k8s.io/kubernetes/pkg/controller/replicaset slowStartBatch.
 */
export async function slowStartBatch(
  count: number,
  work: (index: number) => Promise<void>,
): Promise<SlowStartResult> {
  let successes = 0;
  for (let next = 0, size = initialBatchSize; next < count; size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - next) }, (_, i) => next + i);
    const results = await settleInTurns(batch, work);
    successes += results.filter((r) => r.status === 'fulfilled').length;
    const failure = results.find((r) => r.status === 'rejected');
    if (failure) return { successes, error: failure.reason };
    next += batch.length;
  }
  return { successes };
}

/** `Promise.allSettled` of the work on all items, begun in as many turns as it takes, so that others have theirs in between. */
export async function settleInTurns<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: Promise<PromiseSettledResult<R>[]>[] = [];
  for (const item of items) {
    if (isTurnLong()) await letOthersRun();
    results.push(Promise.allSettled([work(item)]));
  }
  return (await Promise.all(results)).flat();
}

/** The same where nobody asks for the results: waits for all, then rejects with the first failure. */
export async function allInTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const results = await settleInTurns(items, work);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}
