import type { CacheEntry } from './cache-entry';

/** Entries of one namespace in key order: binary search, so that lists need no sorting. */
export class SortedEntries {
  private readonly items: CacheEntry[] = [];

  get size(): number {
    return this.items.length;
  }

  /** The live array; callers that yield must copy. */
  get all(): readonly CacheEntry[] {
    return this.items;
  }

  get(name: string): CacheEntry | undefined {
    const entry = this.items[this.lowerBound(name)];
    return entry?.name === name ? entry : undefined;
  }

  set(entry: CacheEntry): void {
    const last = this.items.at(-1);
    if (!last || last.name < entry.name) {
      this.items.push(entry);
      return;
    }
    const at = this.lowerBound(entry.name);
    if (this.items[at]?.name === entry.name) this.items[at] = entry;
    else this.items.splice(at, 0, entry);
  }

  delete(name: string): void {
    const at = this.lowerBound(name);
    if (this.items[at]?.name === name) this.items.splice(at, 1);
  }

  /** Index of the first entry whose name is not below `name`. */
  lowerBound(name: string): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.items[middle]?.name ?? '') < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
