export type SeriesLabels = Readonly<Record<string, string>>;

/** One line of a family: what its holder counts up, or sets. */
export class Count {
  value = 0;

  lines(name: string, labels: string): string[] {
    return [`${name}${braced(labels)} ${this.value}`];
  }
}

/** How often values fell below each of the upper bounds. */
export class Distribution {
  private readonly counts: number[];
  private sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let i = 0;
    while (i < this.bounds.length && value > (this.bounds[i] ?? Infinity)) i += 1;
    this.counts[i] = (this.counts[i] ?? 0) + 1;
    this.sum += value;
  }

  lines(name: string, labels: string): string[] {
    const comma = labels ? ',' : '';
    let count = 0;
    const buckets = this.counts.map((n, i) => {
      count += n;
      return `${name}_bucket{${labels}${comma}le="${this.bounds[i] ?? '+Inf'}"} ${count}`;
    });
    return [
      ...buckets,
      `${name}_sum${braced(labels)} ${this.sum}`,
      `${name}_count${braced(labels)} ${count}`,
    ];
  }
}

const braced = (labels: string): string => (labels ? `{${labels}}` : '');

const escaped = (value: string): string => value.replace(/["\\\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

interface FamilyOptions<S> {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  create(): S;
}

/**
 * A family of metrics whose series are looked up once and then held: a request costs an increment, where a lookup by
 * labels would cost as much as the rest of its bookkeeping. Shown in Prometheus' text format.
 */
export class Family<S extends Count | Distribution> {
  private readonly series = new Map<string, S>();

  constructor(private readonly options: FamilyOptions<S>) {}

  with(labels: SeriesLabels): S {
    const text = Object.entries(labels)
      .map(([name, value]) => `${name}="${escaped(value)}"`)
      .join(',');
    const known = this.series.get(text);
    if (known) return known;
    const created = this.options.create();
    this.series.set(text, created);
    return created;
  }

  expose(): string {
    const { name, help, type } = this.options;
    const lines = [...this.series].flatMap(([labels, series]) => series.lines(name, labels));
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
  }
}

export const counts = (name: string, help: string, type: 'counter' | 'gauge' = 'counter'): Family<Count> =>
  new Family({ name, help, type, create: () => new Count() });

export const distributions = (name: string, help: string, bounds: readonly number[]): Family<Distribution> =>
  new Family({ name, help, type: 'histogram', create: () => new Distribution(bounds) });
