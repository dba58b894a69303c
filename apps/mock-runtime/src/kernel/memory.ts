import type { Process } from './process';

/**
 * What the programs of one container say that they hold (buffers, variables). Beyond the limit the kernel kills the
 * container's processes all together, as with `memory.oom.group`, which the kubelet has set.
 */
export class Memory {
  private readonly held = new Map<Process, number>();
  private total = 0;

  constructor(
    /** Bytes; 0: none. */
    private readonly limit: () => number,
    private readonly outOfMemory: () => void,
  ) {}

  get usedBytes(): number {
    return this.total;
  }

  /** The process holds this much now, instead of what it held before. */
  hold(process: Process, bytes: number): void {
    this.total += bytes - (this.held.get(process) ?? 0);
    this.held.set(process, bytes);
    const limit = this.limit();
    if (limit > 0 && this.total > limit) this.outOfMemory();
  }

  release(process: Process): void {
    this.total -= this.held.get(process) ?? 0;
    this.held.delete(process);
  }
}
