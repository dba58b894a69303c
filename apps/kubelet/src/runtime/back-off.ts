import type { Clock } from '@tinkernetes/component-base';

interface Entry {
  delayMs: number;
  updatedAt: number;
}

/**
 * Exponential delays per key, forgotten after twice the maximum without a new failure.
 * Source: k8s.io/client-go/util/flowcontrol Backoff.
 */
export class BackOff {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly clock: Clock,
    private readonly initialMs: number,
    private readonly maxMs: number,
  ) {}

  /** Milliseconds until the key may be tried again, counted from its failure at `since`; 0: now. */
  remaining(key: string, since: number): number {
    const entry = this.entries.get(key);
    if (!entry || this.expired(entry, since)) return 0;
    return Math.max(0, since + entry.delayMs - this.clock.now());
  }

  delay(key: string): number {
    return this.entries.get(key)?.delayMs ?? 0;
  }

  /** Counts one more failure, at `at`. */
  next(key: string, at: number): void {
    const entry = this.entries.get(key);
    const delayMs =
      !entry || this.expired(entry, at) ? this.initialMs : Math.min(entry.delayMs * 2, this.maxMs);
    this.entries.set(key, { delayMs, updatedAt: this.clock.now() });
  }

  forget(prefix: string): void {
    for (const key of [...this.entries.keys()]) if (key.startsWith(prefix)) this.entries.delete(key);
  }

  private expired(entry: Entry, at: number): boolean {
    return at - entry.updatedAt > this.maxMs * 2;
  }
}

/** Go's duration text for whole seconds: `10s`, `2m40s`, `5m0s`. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}

/** Go's duration text with fractions: `1.234s`, `12ms`. */
export function preciseDurationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(3))}s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes}m${Number(((ms % 60_000) / 1000).toFixed(3))}s`;
}
