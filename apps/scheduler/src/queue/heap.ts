/** A binary heap whose items can be found, replaced and removed by key. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly positions = new Map<string, number>();

  constructor(
    private readonly keyOf: (item: T) => string,
    private readonly less: (a: T, b: T) => boolean,
  ) {}

  get size(): number {
    return this.items.length;
  }

  get(key: string): T | undefined {
    const position = this.positions.get(key);
    return position === undefined ? undefined : this.items[position];
  }

  peek(): T | undefined {
    return this.items[0];
  }

  values(): readonly T[] {
    return this.items;
  }

  /** Adds, or replaces the item with the same key. */
  push(item: T): void {
    const position = this.positions.get(this.keyOf(item)) ?? this.items.length;
    this.place(item, position);
    this.settle(position);
  }

  pop(): T | undefined {
    const first = this.items[0];
    if (first !== undefined) this.delete(this.keyOf(first));
    return first;
  }

  delete(key: string): T | undefined {
    const position = this.positions.get(key);
    if (position === undefined) return undefined;
    const removed = this.items[position];
    const last = this.items.pop();
    this.positions.delete(key);
    if (last !== undefined && position < this.items.length) {
      this.place(last, position);
      this.settle(position);
    }
    return removed;
  }

  private place(item: T, position: number): void {
    this.items[position] = item;
    this.positions.set(this.keyOf(item), position);
  }

  private settle(position: number): void {
    this.sink(this.rise(position));
  }

  private rise(position: number): number {
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.isLess(position, parent)) break;
      this.swap(position, parent);
      position = parent;
    }
    return position;
  }

  private sink(position: number): void {
    for (;;) {
      const left = 2 * position + 1;
      const right = left + 1;
      let least = position;
      if (this.isLess(left, least)) least = left;
      if (this.isLess(right, least)) least = right;
      if (least === position) return;
      this.swap(position, least);
      position = least;
    }
  }

  private isLess(a: number, b: number): boolean {
    const [first, second] = [this.items[a], this.items[b]];
    return first !== undefined && second !== undefined && this.less(first, second);
  }

  private swap(a: number, b: number): void {
    const [first, second] = [this.items[a], this.items[b]];
    if (first === undefined || second === undefined) return;
    this.place(second, a);
    this.place(first, b);
  }
}
