import { Registry, Counter, Gauge, Histogram } from 'prom-client';
import type { Labels, Metrics } from './metrics';

/** Metrics on a registry of its own, so that several components can live in one process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    counter(name, help, labelNames = []) {
      const counter = new Counter({ name, help, labelNames: [...labelNames], registers });
      return { inc: (labels: Labels = {}, by = 1) => counter.inc(labels, by) };
    },
    gauge(name, help, labelNames = []) {
      let read: (() => number) | undefined;
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        collect: () => {
          if (read) gauge.set(read());
        },
      });
      return {
        set: (value, labels = {}) => gauge.set(labels, value),
        collect: (reader) => {
          read = reader;
        },
      };
    },
    histogram(name, help, { labelNames = [], buckets }) {
      const histogram = new Histogram({
        name,
        help,
        labelNames: [...labelNames],
        buckets: [...buckets],
        registers,
      });
      return { observe: (value, labels = {}) => histogram.observe(labels, value) };
    },
    expose: () => registry.metrics(),
  };
}
