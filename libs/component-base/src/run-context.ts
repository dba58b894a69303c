import type { Clock } from './clock';
import type { Logger } from './logger';
import type { LoopbackNetwork } from './loopback';
import type { Metrics } from './metrics';
import type { Random } from './random';
import type { StepTracer } from './tracing';

/** What every component is given by whoever starts it: its own process's main.ts, or the in-process launcher. */
export interface RunContext {
  /** Aborted once: stop cleanly. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: StepTracer;
  /** Where components share a process: the servers in it, which are reached without TLS. */
  readonly loopback?: LoopbackNetwork;
  /**
   * To be called once, when the component serves (listening, caches synced). `info` is for the launcher, e.g.
   * `{ port: 6443 }` where port 0 was asked for.
   */
  ready(info?: Record<string, unknown>): void;
}

/**
 * A component's entry point. Resolves when it has stopped and nothing of it is left running (no timer, socket or
 * file handle); rejects when it can't start or can't go on.
 */
export type Run<Options> = (options: Options, context: RunContext) => Promise<void>;
