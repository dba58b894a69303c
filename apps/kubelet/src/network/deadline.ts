import { realClock } from '@tinkernetes/component-base';

/** As AbortSignal.timeout names its reason, which callers tell from other failures. */
class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Aborts the work's signal after so much real time, whatever clock the component runs on: a peer on a real connection
 * answers no faster when the cluster's clock does.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = realClock.setTimeout(() => controller.abort(new TimeoutError(`no answer in ${ms} ms`)), ms);
  try {
    return await work(controller.signal);
  } finally {
    timer.cancel();
  }
}
