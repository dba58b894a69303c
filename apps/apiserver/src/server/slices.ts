import type { Clock } from '@tinkernetes/component-base';

/** Long work lets other requests have their turn after this long. */
const sliceMs = 8;

/** Cuts long work into slices of time: `if (slices.areUsedUp) await slices.next();` */
export class Slices {
  private started: number;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {
    this.started = clock.monotonic();
  }

  get areUsedUp(): boolean {
    return this.clock.monotonic() - this.started > sliceMs;
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
