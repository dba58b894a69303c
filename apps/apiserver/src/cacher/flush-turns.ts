import type { Clock } from '@tinkernetes/component-base';
import { Slices } from '../server/slices';

interface Flushable {
  flush(): void;
}

/**
 * Lets watchers write what they have been told. Each write costs an encryption and a system call: where a thousand
 * watchers have something to write, they do so over several turns of the event loop, and requests get their turn between.
 * Who waits meanwhile is told more, and writes it all at once.
 */
export class FlushTurns {
  /** In the order in which they came. */
  private readonly waiting = new Set<Flushable>();
  private isScheduled = false;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** At once, as far as there is time in this turn and nobody waits from an earlier one. */
  add(watchers: Iterable<Flushable>): void {
    for (const watcher of watchers) this.waiting.add(watcher);
    if (!this.isScheduled) this.run();
  }

  /** Not before the next turn: whose sockets have room again come all at once. */
  later(watcher: Flushable): void {
    this.waiting.add(watcher);
    this.schedule();
  }

  /** The watcher has ended. */
  remove(watcher: Flushable): void {
    this.waiting.delete(watcher);
  }

  private run(): void {
    const slices = new Slices(this.clock);
    for (const watcher of this.waiting) {
      this.waiting.delete(watcher);
      watcher.flush();
      if (slices.areUsedUp) break;
    }
    if (this.waiting.size > 0) this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.run();
    });
  }
}
