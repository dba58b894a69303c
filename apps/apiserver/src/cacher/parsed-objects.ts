import type { CacheEntry } from './cache-entry';

/** A parsed object takes about five times its bytes. */
const defaultBudget = 1024 * 1024;

interface Kept {
  readonly entry: CacheEntry;
  readonly size: number;
}

/**
 * Which entries of one resource hold parsed objects. A small resource has all of its objects parsed; of a large one
 * only those of the latest use, so that memory grows by the objects' bytes alone.
 */
export class ParsedObjects {
  private queue: Kept[] = [];
  private first = 0;
  private total = 0;

  constructor(
    /** Bytes of what the objects were parsed from, and of encodings made of them. */
    private readonly budget = defaultBudget,
  ) {}

  /** No other is released for one of this size. */
  hasRoomFor(size: number): boolean {
    return this.total + size <= this.budget;
  }

  add(entry: CacheEntry, size: number): void {
    this.queue.push({ entry, size });
    this.total += size;
    while (this.total > this.budget && this.first < this.queue.length - 1) this.releaseOldest();
  }

  private releaseOldest(): void {
    const oldest = this.queue[this.first++];
    if (!oldest) return;
    this.total -= oldest.size;
    oldest.entry.release();
    if (this.first < 1000 || this.first < this.queue.length / 2) return;
    this.queue = this.queue.slice(this.first);
    this.first = 0;
  }
}
