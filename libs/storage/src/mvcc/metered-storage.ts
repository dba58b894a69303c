import type { Clock, Histogram, Metrics } from '@tinkernetes/component-base';
import type { KeyValue, PutOptions, RangeOptions, Storage } from '../types';

/** Bounds in seconds, as upstream's `etcd_request_duration_seconds`. */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const batchBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

export function batchSizeObserver(metrics: Metrics | undefined): ((size: number) => void) | undefined {
  const histogram = metrics?.histogram(
    'apiserver_storage_commit_batch_size',
    'Number of writes that shared one commit.',
    { buckets: batchBuckets },
  );
  return histogram && ((size) => histogram.observe(size));
}

/** Measures how long each call takes, under upstream's metric name, by operation and resource. */
export class MeteredStorage implements Storage {
  private readonly latency: Histogram;

  constructor(
    private readonly storage: Storage,
    metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.latency = metrics.histogram(
      'etcd_request_duration_seconds',
      'Latency of storage requests in seconds for each operation and object type.',
      { labelNames: ['operation', 'type'], buckets: latencyBuckets },
    );
  }

  get(key: string, options?: { revision?: number }) {
    return this.measure('get', key, () => this.storage.get(key, options));
  }

  range(prefix: string, options?: RangeOptions) {
    return this.measure(options?.countOnly ? 'count' : 'list', prefix, () =>
      this.storage.range(prefix, options),
    );
  }

  create(key: string, value: Uint8Array, options?: PutOptions): Promise<KeyValue> {
    return this.measure('create', key, () => this.storage.create(key, value, options));
  }

  update(key: string, value: Uint8Array, expectedRevision: number, options?: PutOptions): Promise<KeyValue> {
    return this.measure('update', key, () => this.storage.update(key, value, expectedRevision, options));
  }

  delete(key: string, expectedRevision: number) {
    return this.measure('delete', key, () => this.storage.delete(key, expectedRevision));
  }

  compact(revision: number): Promise<void> {
    return this.measure('compact', '', () => this.storage.compact(revision));
  }

  watch(prefix: string, options: { afterRevision: number; signal: AbortSignal }) {
    return this.storage.watch(prefix, options);
  }

  currentRevision(): Promise<number> {
    return this.storage.currentRevision();
  }

  snapshot(): AsyncIterable<Uint8Array> {
    return this.storage.snapshot();
  }

  restore(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    return this.storage.restore(chunks);
  }

  close(): Promise<void> {
    return this.storage.close();
  }

  private async measure<T>(operation: string, key: string, call: () => Promise<T>): Promise<T> {
    const start = this.clock.monotonic();
    try {
      return await call();
    } finally {
      const type = key.split('/', 3)[2] ?? '';
      this.latency.observe((this.clock.monotonic() - start) / 1000, { operation, type });
    }
  }
}
