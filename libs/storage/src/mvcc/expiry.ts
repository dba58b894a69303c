import type { Clock, Timer } from '@tinkernetes/component-base';
import type { Change, StoredVersion } from './driver';

const retryMs = 1000;

/** Deletes keys whose time to live has passed, by guarded deletes, so that several servers may do it at once. */
export class Expiry {
  /** Keys that expire, with the version that does. */
  private readonly expiring = new Map<string, { expiresAt: number; revision: number }>();
  private timer: Timer | undefined;
  private timerAt = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly expire: (key: string, revision: number) => Promise<void>,
  ) {}

  adopt(versions: Iterable<StoredVersion>): void {
    for (const version of versions) this.track(version.key, version);
  }

  observe(changes: readonly Change[]): void {
    for (const { key, current } of changes) this.track(key, current);
  }

  stop(): void {
    this.timer?.cancel();
    this.expiring.clear();
  }

  private track(key: string, version: StoredVersion | undefined): void {
    if (version?.expiresAt === undefined) {
      this.expiring.delete(key);
      return;
    }
    this.expiring.set(key, { expiresAt: version.expiresAt, revision: version.modRevision });
    this.wakeAt(version.expiresAt);
  }

  private wakeAt(at: number): void {
    if (at >= this.timerAt) return;
    this.timer?.cancel();
    this.timerAt = at;
    this.timer = this.clock.setTimeout(() => void this.run(), Math.max(0, at - this.clock.now()), {
      unref: true,
    });
  }

  private async run(): Promise<void> {
    this.timerAt = Infinity;
    const now = this.clock.now();
    const due: [string, number][] = [];
    let next = Infinity;
    for (const [key, { expiresAt, revision }] of this.expiring) {
      if (expiresAt <= now) due.push([key, revision]);
      else next = Math.min(next, expiresAt);
    }
    const results = await Promise.allSettled(due.map(([key, revision]) => this.expire(key, revision)));
    if (results.some((result) => result.status === 'rejected')) next = Math.min(next, now + retryMs);
    if (next < Infinity) this.wakeAt(next);
  }
}
