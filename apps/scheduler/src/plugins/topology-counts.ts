type Labels = Readonly<Record<string, string>>;

interface Values {
  counts: Map<string, number>;
  /** Somebody else's: copied before it is changed. */
  isShared: boolean;
}

/** Counts by topology: label key → label value → number. Entries at 0 are as good as absent. */
export class TopologyCounts {
  private readonly byKey = new Map<string, Values>();

  get isEmpty(): boolean {
    return this.byKey.size === 0;
  }

  get(key: string, value: string): number {
    return this.byKey.get(key)?.counts.get(value) ?? 0;
  }

  /** Of all the node's labels together. */
  sumOn(labels: Labels): number {
    let sum = 0;
    for (const [key, { counts }] of this.byKey) {
      const value = labels[key];
      if (value !== undefined) sum += counts.get(value) ?? 0;
    }
    return sum;
  }

  /** Whether a label of the node counts anything. */
  isOn(labels: Labels): boolean {
    for (const [key, { counts }] of this.byKey) {
      const value = labels[key];
      if (value !== undefined && (counts.get(value) ?? 0) > 0) return true;
    }
    return false;
  }

  add(key: string, value: string | undefined, by: number): void {
    if (value === undefined || by === 0) return;
    const counts = this.own(key);
    const count = (counts.get(value) ?? 0) + by;
    if (count === 0) counts.delete(value);
    else counts.set(value, count);
    if (counts.size === 0) this.byKey.delete(key);
  }

  /** Adds each of `counts`, `times` times. A first set of counts is borrowed, not copied. */
  addAll(key: string, counts: ReadonlyMap<string, number>, times = 1): void {
    if (counts.size === 0 || times === 0) return;
    if (times === 1 && !this.byKey.has(key)) {
      this.byKey.set(key, { counts: counts as Map<string, number>, isShared: true });
      return;
    }
    for (const [value, count] of counts) this.add(key, value, count * times);
  }

  clone(): TopologyCounts {
    const copy = new TopologyCounts();
    for (const [key, { counts }] of this.byKey)
      copy.byKey.set(key, { counts: new Map(counts), isShared: false });
    return copy;
  }

  private own(key: string): Map<string, number> {
    const known = this.byKey.get(key);
    if (known && !known.isShared) return known.counts;
    const counts = new Map(known?.counts);
    this.byKey.set(key, { counts, isShared: false });
    return counts;
  }
}
