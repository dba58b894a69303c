import { longTurnMs, type Clock } from '@tinkernetes/component-base';

/**
 * Cuts long work into slices of time: `if (slices.areUsedUp) await slices.next();`. Each request has slices of its own:
 * with a turn that all share (`isTurnLong`), the one that goes on first would take every turn until it has ended.
 */
export class Slices {
  private started: number;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {
    this.started = clock.monotonic();
  }

  get areUsedUp(): boolean {
    return this.clock.monotonic() - this.started > longTurnMs;
  }

  /** Resolves in the next turn of the event loop, with a new slice. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.started = this.clock.monotonic();
  }

  /** `list.filter(keep)`, in slices. */
  async filter<T>(list: readonly T[], keep: (item: T) => boolean): Promise<T[]> {
    const kept: T[] = [];
    for (const item of list) {
      if (this.areUsedUp) await this.next();
      if (keep(item)) kept.push(item);
    }
    return kept;
  }
}
