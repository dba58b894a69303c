import type { CacheEntry } from './cache-entry';

/** Entries of one namespace by name, and in key order, so that lists need no sorting. */
export class SortedEntries {
  private readonly items: CacheEntry[] = [];
  /** Every request looks one up: a hash costs less than a dozen comparisons. */
  private readonly byName = new Map<string, CacheEntry>();

  get size(): number {
    return this.items.length;
  }

  /** The live array; callers that yield must copy. */
  get all(): readonly CacheEntry[] {
    return this.items;
  }

  get(name: string): CacheEntry | undefined {
    return this.byName.get(name);
  }

  set(entry: CacheEntry): void {
    const isNew = !this.byName.has(entry.name);
    this.byName.set(entry.name, entry);
    const last = this.items.at(-1);
    if (!last || last.name < entry.name) {
      this.items.push(entry);
      return;
    }
    const at = this.lowerBound(entry.name);
    if (isNew) this.items.splice(at, 0, entry);
    else this.items[at] = entry;
  }

  delete(name: string): void {
    if (this.byName.delete(name)) this.items.splice(this.lowerBound(name), 1);
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
