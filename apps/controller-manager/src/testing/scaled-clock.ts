import { realClock, type Clock, type Timer } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';

const tickMs = 5;

/** For `eventually`, where fast time brings something about: on a busy machine it is slow. */
export const fastTime = { timeoutMs: 150_000 };

/** A clock for tests with a real API server: timers fire in order, and hours pass in seconds once `speed` is raised. */
export class ScaledClock implements Clock {
  speed = 1;
  private readonly virtual = new VirtualClock(realClock.now());
  private isStopped = false;
  private advancing: Promise<void> = Promise.resolve();
  private readonly ended = this.tick();

  now(): number {
    return this.virtual.now();
  }

  monotonic(): number {
    return this.virtual.monotonic();
  }

  setTimeout(callback: () => void, ms: number): Timer {
    return this.virtual.setTimeout(callback, ms);
  }

  setInterval(callback: () => void, ms: number): Timer {
    return this.virtual.setInterval(callback, ms);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.virtual.sleep(ms, signal);
  }

  /** Back to real speed; resolves when the last fast step, which may be minutes long, is over. */
  async slowDown(): Promise<void> {
    this.speed = 1;
    await this.advancing;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.ended;
  }

  private async tick(): Promise<void> {
    let last = realClock.monotonic();
    while (!this.isStopped) {
      await realClock.sleep(tickMs);
      const now = realClock.monotonic();
      // Fast time waits for a busy machine, so that nothing comes too late by its measure; real time waits for nobody.
      const passedMs = this.speed > 1 ? tickMs : now - last;
      last = now;
      this.advancing = this.virtual.advance(passedMs * this.speed);
      await this.advancing;
    }
  }
}
