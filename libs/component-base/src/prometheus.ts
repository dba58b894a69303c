import { Registry, Counter, Gauge, Histogram, type Metric } from 'prom-client';
import type { Labels, Metrics } from './metrics';
import { registerProcessMetrics } from './process-metrics';

/**
 * Metrics on a registry of its own, so that several components can live in one process. A family that is asked for
 * again (by two queues, two clients) is the same one.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const once = <M extends Metric>(name: string, create: () => M): M =>
    (registry.getSingleMetric(name) as M | undefined) ?? create();
  const metrics: Metrics = {
    counter(name, help, labelNames = []) {
      const counter = once(name, () => new Counter({ name, help, labelNames: [...labelNames], registers }));
      return { inc: (labels: Labels = {}, by = 1) => counter.inc(labels, by) };
    },
    gauge(name, help, labelNames = []) {
      let read: (() => number) | undefined;
      let readEach: (() => Iterable<readonly [Labels, number]>) | undefined;
      const gauge = once(name, () => {
        const created: Gauge = new Gauge({
          name,
          help,
          labelNames: [...labelNames],
          registers,
          collect: () => {
            if (read) created.set(read());
            if (!readEach) return;
            created.reset();
            for (const [labels, value] of readEach()) created.set(labels, value);
          },
        });
        return created;
      });
      return {
        set: (value, labels = {}) => gauge.set(labels, value),
        collect: (reader) => {
          read = reader;
        },
        collectEach: (reader) => {
          readEach = reader;
        },
      };
    },
    histogram(name, help, { labelNames = [], buckets }) {
      const histogram = once(
        name,
        () => new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers }),
      );
      return { observe: (value, labels = {}) => histogram.observe(labels, value) };
    },
    expose: () => registry.metrics(),
  };
  registerProcessMetrics(metrics);
  return metrics;
}
