import { monitorEventLoopDelay, performance, type IntervalHistogram } from 'node:perf_hooks';
import type { Metrics } from './metrics';

/** How often the event loop is looked at, from the first scrape on: nothing runs in a process that nobody watches. */
const resolutionMs = 20;

/**
 * The process itself, under the names that Prometheus' client libraries use, and how late the event loop is: work that
 * blocks it shows there. Values are read when they are scraped.
 */
export function registerProcessMetrics(metrics: Metrics): void {
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge(name, help).collect(read);
  gauge('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    () => performance.timeOrigin / 1000,
  );
  gauge(
    'nodejs_heap_size_used_bytes',
    'Process heap size used from Node.js in bytes.',
    () => process.memoryUsage().heapUsed,
  );
  let delay: IntervalHistogram | undefined;
  gauge('nodejs_eventloop_lag_max_seconds', 'Longest event loop delay since the last scrape.', () => {
    if (!delay) {
      delay = monitorEventLoopDelay({ resolution: resolutionMs });
      delay.enable();
      return 0;
    }
    // The time between two looks, of which the resolution is no delay.
    const ms = Math.max(0, delay.max / 1e6 - resolutionMs);
    delay.reset();
    return ms / 1000;
  });
}
