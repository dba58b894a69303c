import type { Clock } from './clock';

/** Named as what `AbortSignal.timeout` aborts with. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** Aborts the work's signal with a TimeoutError after so long. What becomes of the work then is the work's own affair. */
export async function withDeadline<T>(
  clock: Pick<Clock, 'setTimeout'>,
  ms: number,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = clock.setTimeout(() => controller.abort(new TimeoutError(`no answer in ${ms} ms`)), ms);
  try {
    return await work(controller.signal);
  } finally {
    timer.cancel();
  }
}
