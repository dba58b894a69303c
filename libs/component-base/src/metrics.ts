/** Metric families under upstream's names, in Prometheus text format at `/metrics`. */
export interface Metrics {
  counter(name: string, help: string, labelNames?: readonly string[]): Counter;
  gauge(name: string, help: string, labelNames?: readonly string[]): Gauge;
  /** `buckets`: upper bounds; the unit is part of the name (`_seconds`). */
  histogram(
    name: string,
    help: string,
    options: { labelNames?: readonly string[]; buckets: readonly number[] },
  ): Histogram;
  /** The exposition text. */
  expose(): Promise<string>;
}
/** `count` upper bounds from `start` on, each `factor` times the one before. */
export const exponentialBuckets = (start: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start * factor ** i);

export type Labels = Record<string, string | number>;
export interface Counter {
  inc(labels?: Labels, by?: number): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Sets the value at scrape time. */
  collect(read: () => number): void;
  /** Sets the values of all labels at scrape time; those that are not there any more are gone. */
  collectEach(read: () => Iterable<readonly [Labels, number]>): void;
}
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}
