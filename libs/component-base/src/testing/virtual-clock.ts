import { sleepOn, type Clock, type Timer } from '../clock';

interface Pending {
  at: number;
  order: number;
  callback: () => void;
  every?: number;
}

/** A clock that stands still until it is advanced. Timers fire in order of their due time, then of their creation. */
export class VirtualClock implements Clock {
  private readonly pending = new Set<Pending>();
  private order = 0;
  private readonly start: number;

  constructor(private current = Date.UTC(2026, 0, 1)) {
    this.start = current;
  }

  now(): number {
    return this.current;
  }

  monotonic(): number {
    return this.current - this.start;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    return this.schedule({ at: this.current + Math.max(0, ms), order: this.order++, callback });
  }

  setInterval(callback: () => void, ms: number): Timer {
    return this.schedule({ at: this.current + ms, order: this.order++, callback, every: ms });
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Number of timers that wait; a test asserts 0 to prove that nothing was left running. */
  get timers(): number {
    return this.pending.size;
  }

  /** Moves time forward by `ms`, firing what falls due, and lets promises settle after each timer. */
  async advance(ms: number): Promise<void> {
    const target = this.current + ms;
    await settle();
    for (let next = this.next(target); next; next = this.next(target)) {
      this.current = Math.max(this.current, next.at);
      if (next.every === undefined) this.pending.delete(next);
      else next.at += next.every;
      next.callback();
      await settle();
    }
    this.current = target;
    await settle();
  }

  private schedule(entry: Pending): Timer {
    this.pending.add(entry);
    return { cancel: () => void this.pending.delete(entry) };
  }

  private next(target: number): Pending | undefined {
    let best: Pending | undefined;
    for (const entry of this.pending) {
      if (entry.at > target) continue;
      if (!best || entry.at < best.at || (entry.at === best.at && entry.order < best.order)) best = entry;
    }
    return best;
  }
}

/** Lets everything that is ready (promises, immediates) run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
