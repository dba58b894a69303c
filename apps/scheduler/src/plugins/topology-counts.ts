/** Counts by topology: label key → label value → number. Entries at 0 are as good as absent. */
export class TopologyCounts {
  private readonly counts = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.counts.size === 0;
  }

  get(key: string, value: string): number {
    return this.counts.get(key)?.get(value) ?? 0;
  }

  add(key: string, value: string | undefined, by: number): void {
    if (value === undefined || by === 0) return;
    const values = this.counts.get(key) ?? new Map<string, number>();
    const count = (values.get(value) ?? 0) + by;
    if (count === 0) values.delete(value);
    else values.set(value, count);
    if (values.size === 0) this.counts.delete(key);
    else this.counts.set(key, values);
  }

  clone(): TopologyCounts {
    const copy = new TopologyCounts();
    for (const [key, values] of this.counts) copy.counts.set(key, new Map(values));
    return copy;
  }
}
