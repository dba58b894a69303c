import {
  createMetrics,
  createStepTracer,
  realClock,
  realRandom,
  type Histogram,
  type Metrics,
} from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { defaultConfiguration } from '../../../apps/scheduler/src/config/types';
import { createScheduler } from '../../../apps/scheduler/src/scheduler/create-scheduler';
import { MemoryApi } from './memory-api';
import { benchNode, benchPod, workloads, type Workload } from './workloads';

export interface Measured {
  name: string;
  nodes: number;
  pods: number;
  seconds: number;
  cpuSeconds: number;
  /** Milliseconds, from taking a Pod from the queue to its Binding's answer. */
  p50: number;
  p99: number;
  rssMb: number;
}

/** The whole scheduler on an API in memory: queue, decisions, Bindings, its own view of them. */
async function run(workload: Workload): Promise<Measured> {
  const api = new MemoryApi();
  const stopping = new AbortController();
  const attempts: number[] = [];
  const { scheduler, queue } = createScheduler({
    configuration: defaultConfiguration,
    client: api.client,
    informers: api.informers,
    context: {
      clock: realClock,
      random: realRandom,
      logger: silentLogger,
      metrics: recording(createMetrics(), attempts),
      tracer: createStepTracer({ component: 'kube-scheduler' }),
    },
    signal: stopping.signal,
  });
  // The scheduler's timers alone don't keep a process alive; in a real one connections do.
  const alive = setInterval(() => undefined, 60_000);
  const running = scheduler.run();
  const add = async (count: number, prefix: string, { shape }: { shape: Workload['measured']['shape'] }) => {
    const all = new Promise<void>((resolve) => {
      const goal = api.bound + count;
      api.onBound = () => api.bound === goal && resolve();
    });
    for (let i = 0; i < count; i++) {
      api.addPod(benchPod(`${prefix}-${i}`, i, shape));
      // Creators are other processes: the scheduler has its turns meanwhile.
      if (i % 100 === 99) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await all;
  };
  const { nodes, initial, measured } = workload;
  for (let i = 0; i < nodes; i++) api.addNode(benchNode(i));
  await add(initial.count, 'initial', initial);
  attempts.length = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  await add(measured.count, 'measured', measured);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  queue.close();
  stopping.abort();
  await running;
  clearInterval(alive);
  attempts.sort((a, b) => a - b);
  const quantile = (q: number) => 1000 * (attempts[Math.floor((attempts.length - 1) * q)] ?? 0);
  return {
    name: workload.name,
    nodes,
    pods: measured.count,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    p50: quantile(0.5),
    p99: quantile(0.99),
    rssMb: process.memoryUsage.rss() / 2 ** 20,
  };
}

/** Keeps each attempt's exact duration beside the histogram of it. */
function recording(metrics: Metrics, attempts: number[]): Metrics {
  return {
    ...metrics,
    counter: (...args) => metrics.counter(...args),
    gauge: (...args) => metrics.gauge(...args),
    expose: () => metrics.expose(),
    histogram(name, help, options): Histogram {
      const made = metrics.histogram(name, help, options);
      if (name !== 'scheduler_scheduling_attempt_duration_seconds') return made;
      return {
        observe(value, labels) {
          attempts.push(value);
          made.observe(value, labels);
        },
      };
    },
  };
}

export async function runNumber(index: number, scale: number): Promise<Measured | undefined> {
  const workload = workloads(scale)[index];
  return workload && run(workload);
}
