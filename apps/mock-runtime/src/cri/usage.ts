import type { Clock } from '@tinkernetes/component-base';
import { scripted } from '../containers/failure-script';
import { nanos, type Container } from '../containers/container';
import { parseCpu, parseMemory } from './quantities';

/** What an idle program is taken to use besides what it accounts for. */
const idleNanoCores = 100_000;
const idleMemoryBytes = 2 * 1024 * 1024;

/** The rate of CPU use is taken over at least this long. */
const shortestWindowMs = 1000;

export interface Usage {
  /** CPU time since the container started. */
  coreNanoSeconds: number;
  nanoCores: number;
  memoryBytes: number;
}

interface Sample {
  atMs: number;
  coreNanoSeconds: number;
  nanoCores: number;
}

/** CPU and memory of containers: scripted by annotation, else what their programs account for, and a little for being there. */
export class UsageMeter {
  private readonly samples = new WeakMap<Container, Sample>();

  constructor(private readonly clock: Clock) {}

  of(container: Container): Usage {
    if (!container.running) return { coreNanoSeconds: 0, nanoCores: 0, memoryBytes: 0 };
    const { record, sandbox } = container;
    const name = record.config.metadata?.name ?? '';
    const value = (annotation: 'cpu' | 'memory') => scripted(sandbox.config.annotations, name, annotation);
    const { bytes, cpuMs } = container.usage;
    const memoryBytes = parseMemory(value('memory')) ?? idleMemoryBytes + bytes;
    const seconds = (nanos(this.clock) - record.startedAt) / 1e9;
    const fixed = parseCpu(value('cpu'));
    if (fixed !== undefined) return { coreNanoSeconds: fixed * seconds, nanoCores: fixed, memoryBytes };
    const coreNanoSeconds = idleNanoCores * seconds + cpuMs * 1e6;
    return { coreNanoSeconds, nanoCores: this.rate(container, coreNanoSeconds), memoryBytes };
  }

  /** Over the time since the last look at it, as containerd does. */
  private rate(container: Container, coreNanoSeconds: number): number {
    const now = this.clock.now();
    const last = this.samples.get(container) ?? {
      atMs: container.record.startedAt / 1e6,
      coreNanoSeconds: 0,
      nanoCores: idleNanoCores,
    };
    const elapsed = now - last.atMs;
    if (elapsed < shortestWindowMs) return last.nanoCores;
    const nanoCores = ((coreNanoSeconds - last.coreNanoSeconds) / elapsed) * 1000;
    this.samples.set(container, { atMs: now, coreNanoSeconds, nanoCores });
    return nanoCores;
  }
}
