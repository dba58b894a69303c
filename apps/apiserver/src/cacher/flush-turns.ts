import type { Clock } from '@tinkernetes/component-base';
import { Slices } from '../server/slices';

interface Flushable {
  flush(): void;
}

/** Rounds that follow each other leave so many times their own length to everything else. */
const pauseFactor = 4;
/** No event waits longer than this for its round to begin. */
const longestPauseMs = 10;
/** Few watchers are told so fast that nothing is won by a pause; timers don't know shorter ones either. */
const shortestPauseMs = 1;

/**
 * Lets watchers write what they have been told, in rounds. Each write costs an encryption and a system call, however
 * little is written. So an event that comes when nothing was written for a while goes out at once; those that come
 * soon after a round wait for the next one, the longer the more the last one has cost, and each watcher writes them
 * all at once. Where a thousand watchers have something to write, they do so over several turns of the event loop, and
 * requests get their turn between.
 */
export class FlushTurns {
  /** Who writes now, in the order in which they came. */
  private readonly writing = new Set<Flushable>();
  /** Who writes in the next round. */
  private readonly next = new Set<Flushable>();
  private isRound = false;
  private spentMs = 0;
  private pauseEnds = -Infinity;
  private isScheduled = false;
  private isPausing = false;

  constructor(private readonly clock: Pick<Clock, 'monotonic' | 'setTimeout'>) {}

  /** At once if nobody is writing and the last round is long enough ago, as far as there is time in this turn. */
  add(watchers: Iterable<Flushable>): void {
    for (const watcher of watchers) this.next.add(watcher);
    this.begin();
  }

  /** Not before the next turn: whose sockets have room again come all at once. */
  later(watcher: Flushable): void {
    this.writing.add(watcher);
    this.schedule();
  }

  /** The watcher has ended. */
  remove(watcher: Flushable): void {
    this.writing.delete(watcher);
    this.next.delete(watcher);
  }

  private begin(): void {
    if (this.isScheduled || this.isPausing || this.next.size === 0) return;
    const pauseMs = this.pauseEnds - this.clock.monotonic();
    if (pauseMs > 0) {
      this.pause(pauseMs);
      return;
    }
    for (const watcher of this.next) this.writing.add(watcher);
    this.next.clear();
    this.isRound = true;
    this.run();
  }

  private run(): void {
    const started = this.clock.monotonic();
    const slices = new Slices(this.clock);
    for (const watcher of this.writing) {
      this.writing.delete(watcher);
      watcher.flush();
      if (slices.areUsedUp) break;
    }
    this.spentMs += this.clock.monotonic() - started;
    if (this.writing.size > 0) this.schedule();
    else this.finish();
  }

  private finish(): void {
    const pauseMs = Math.min(this.spentMs * pauseFactor, longestPauseMs);
    if (this.isRound && pauseMs >= shortestPauseMs) this.pauseEnds = this.clock.monotonic() + pauseMs;
    this.isRound = false;
    this.spentMs = 0;
    this.begin();
  }

  private pause(ms: number): void {
    this.isPausing = true;
    const resume = () => {
      this.isPausing = false;
      this.begin();
    };
    this.clock.setTimeout(resume, Math.ceil(ms), { unref: true });
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
