import type { Clock, Timer } from '@tinkernetes/component-base';
import type { Driver } from './driver';

/**
 * Forgets old history as kube-apiserver's compactor does: every `keepMs`, everything up to the revision of the tick
 * before. So between one and two periods of history are kept.
 */
export class Compactor {
  private timer: Timer | undefined;
  private latest = 0;
  private atLastTick = 0;
  private compacted = 0;

  constructor(
    private readonly clock: Clock,
    private readonly keepMs: number,
    private readonly driver: Pick<Driver, 'compact' | 'state'>,
  ) {}

  start(revision: number): void {
    this.latest = this.atLastTick = Math.max(this.latest, revision);
    if (this.keepMs > 0)
      this.timer = this.clock.setInterval(() => void this.tick(), this.keepMs, { unref: true });
  }

  observe(revision: number): void {
    this.latest = revision;
  }

  stop(): void {
    this.timer?.cancel();
  }

  private async tick(): Promise<void> {
    const target = this.atLastTick;
    this.atLastTick = this.latest;
    if (target <= this.compacted) return;
    this.compacted = target;
    try {
      const { compactRevision } = await this.driver.state();
      if (target > compactRevision) await this.driver.compact(target);
    } catch {
      // A failing driver reports itself on the next write; there is nothing to do about it here but to try again.
      this.compacted = 0;
    }
  }
}
