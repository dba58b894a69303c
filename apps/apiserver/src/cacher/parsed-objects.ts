import type { CacheEntry } from './cache-entry';

/** A parsed object takes about five times its bytes. */
const defaultBudget = 1024 * 1024;

/**
 * Which entries of one resource hold parsed objects. A small resource has all of its objects parsed; of a large one
 * only those of the latest use, so that memory grows by the objects' bytes alone.
 */
export class ParsedObjects {
  /** By when they were used first, or again: the bytes of what each holds. */
  private readonly kept = new Map<CacheEntry, number>();
  /** What it has passed is no longer kept, so that it stands before the oldest. */
  private readonly oldest = this.kept.keys();
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
    const before = this.kept.get(entry) ?? 0;
    if (before > 0) this.kept.delete(entry);
    this.kept.set(entry, before + size);
    this.total += size;
    while (this.total > this.budget && this.kept.size > 1) this.releaseOldest();
  }

  /** The entry has been replaced: whoever still asks for its object parses it. */
  release(entry: CacheEntry): void {
    this.total -= this.kept.get(entry) ?? 0;
    this.kept.delete(entry);
    entry.release();
  }

  private releaseOldest(): void {
    const { value } = this.oldest.next();
    if (value) this.release(value);
  }
}
