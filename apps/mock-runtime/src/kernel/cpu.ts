import type { Clock } from '@tinkernetes/component-base';
import type { Process } from './process';

/** CPU time that a container's programs used: what they measured themselves, and what they say they keep busy. */
export class Cpu {
  private readonly busy = new Map<Process, number>();
  private cores = 0;
  private spentMs = 0;
  private countedAt: number;

  /** `mostCores`: what the container may use at once; its programs get no more, whatever they want. */
  constructor(
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly mostCores: () => number = () => Infinity,
  ) {
    this.countedAt = clock.monotonic();
  }

  /** A piece of work has taken this long. */
  spend(ms: number): void {
    this.spentMs += ms;
  }

  /** From now on the process keeps this many cores busy. */
  use(process: Process, cores: number): void {
    this.count();
    this.cores += cores - (this.busy.get(process) ?? 0);
    this.busy.set(process, cores);
  }

  release(process: Process): void {
    if (!this.busy.has(process)) return;
    this.use(process, 0);
    this.busy.delete(process);
  }

  /** Milliseconds since the container started. */
  totalMs(): number {
    this.count();
    return this.spentMs;
  }

  private count(): void {
    const now = this.clock.monotonic();
    this.spentMs += Math.min(this.cores, this.mostCores()) * (now - this.countedAt);
    this.countedAt = now;
  }
}
