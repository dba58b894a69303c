/** A running timer. `cancel` is idempotent. A pending timer keeps the process alive unless made with `unref`. */
export interface Timer {
  cancel(): void;
}

export interface TimerOptions {
  /** True: the timer alone does not keep the process alive. */
  unref?: boolean;
}

/**
 * The only source of time (lint forbids `Date.now` and `setTimeout` elsewhere), so that a whole cluster can run on
 * virtual time. All durations and instants are milliseconds; instants count from the Unix epoch.
 */
export interface Clock {
  now(): number;
  /** Milliseconds from an arbitrary start, never going back; for measuring. */
  monotonic(): number;
  setTimeout(callback: () => void, ms: number, options?: TimerOptions): Timer;
  setInterval(callback: () => void, ms: number, options?: TimerOptions): Timer;
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** 2^31 - 1: Node's timers hold no more. */
const longestTimerMs = 2_147_483_647;

class RealClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  setTimeout(callback: () => void, ms: number, options?: TimerOptions): Timer {
    // Node fires longer timers at once: they are waited for in pieces.
    let left = ms;
    const arm = (): NodeJS.Timeout => {
      const piece = Math.min(left, longestTimerMs);
      left -= piece;
      const timer = setTimeout(() => (left > 0 ? (handle = arm()) : callback()), piece);
      return options?.unref ? timer.unref() : timer;
    };
    let handle = arm();
    return { cancel: () => clearTimeout(handle) };
  }

  setInterval(callback: () => void, ms: number, options?: TimerOptions): Timer {
    const handle = setInterval(callback, ms);
    if (options?.unref) handle.unref();
    return { cancel: () => clearInterval(handle) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }
}

/** `Clock.sleep` in terms of `Clock.setTimeout`, for implementers of Clock. */
export function sleepOn(clock: Pick<Clock, 'setTimeout'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export const realClock: Clock = new RealClock();

/** RFC 3339 with whole seconds and `Z`, as `metav1.Time` is written. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  // Most are of the present second; one text for all of them is one string to keep.
  if (second !== formatted.second)
    formatted = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` };
  return formatted.text;
}

let formatted = { second: NaN, text: '' };

/** RFC 3339 with six fractional digits, as `metav1.MicroTime` is written. */
export function formatMicroTime(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.floor((ms - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, 23)}${String(micros).padStart(3, '0')}Z`;
}
