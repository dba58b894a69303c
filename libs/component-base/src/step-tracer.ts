import { realClock, type Clock, type Timer } from './clock';
import { realRandom, type Random } from './random';
import type { FinishedStep, StepId, StepSpan, StepTracer, TraceParent } from './tracing';

export interface StepTracerOptions {
  component: string;
  clock?: Clock;
  random?: Random;
  /**
   * An OpenTelemetry collector that gets all steps too (`OTEL_EXPORTER_OTLP_ENDPOINT`, e.g. `http://127.0.0.1:4318`).
   * The OpenTelemetry SDK is loaded only then, and only with the first step.
   */
  otlpEndpoint?: string;
}

type Sink = (steps: readonly FinishedStep[]) => Promise<void>;

/** More steps than this wait for no sink: the oldest half is dropped. */
const maxBuffered = 10_000;
/** Steps are sent together, so long after the first of them; without steps no timer runs. */
const batchMs = 200;
/** After a failure the steps wait so long for the next try. */
const retryMs = 2000;

/**
 * Records the named steps as spans with W3C identities. Measuring costs two clock reads and an object; sending happens
 * in batches and never inside a step.
 */
export function createStepTracer(options: StepTracerOptions): StepTracer {
  const { component, clock = realClock, random = realRandom, otlpEndpoint } = options;
  // One reading of the wall clock, so that steps of less than a millisecond keep their length and order.
  const epochOffset = clock.now() - clock.monotonic();
  const now = () => epochOffset + clock.monotonic();
  const steps = new StepQueue(clock);
  const queues = [steps];
  if (otlpEndpoint) {
    const forCollector = new StepQueue(clock);
    forCollector.setSink(otlpSink(otlpEndpoint, component));
    queues.push(forCollector);
  }

  const finish = (
    id: StepId,
    parent: TraceParent,
    rest: Omit<FinishedStep, 'id' | 'traceId' | 'component'>,
  ) => {
    const [, traceId = '', parentSpanId] = parent.split('-');
    for (const queue of queues) queue.add({ id, traceId, parentSpanId, component, ...rest });
  };

  return {
    async step(id, { parent, node, object, attributes: initial }, work) {
      if (!parent) return work(untraced);
      const spanId = random.hex(8);
      const attributes = { ...initial };
      const span: StepSpan = {
        traceParent: childOf(parent, spanId),
        set: (more) => void Object.assign(attributes, more),
      };
      const startMs = now();
      try {
        const value = await work(span);
        finish(id, parent, { spanId, node, object, startMs, endMs: now(), attributes });
        return value;
      } catch (error) {
        finish(id, parent, { spanId, node, object, startMs, endMs: now(), attributes, error: String(error) });
        throw error;
      }
    },
    record(id, { parent, node, object, attributes = {}, startMs, endMs = now() }) {
      if (parent) finish(id, parent, { spanId: random.hex(8), node, object, startMs, endMs, attributes });
    },
    startTrace: () => `00-${random.hex(16)}-${random.hex(8)}-01`,
    exportTo: (sink) => steps.setSink(sink),
    flush: async () => void (await Promise.all(queues.map((queue) => queue.flush()))),
  };
}

const untraced: StepSpan = { traceParent: undefined, set() {} };

function childOf(parent: TraceParent, spanId: string): TraceParent {
  return `00-${parent.split('-')[1]}-${spanId}-01`;
}

function otlpSink(endpoint: string, component: string): Sink {
  return async (steps) => {
    const { exportToCollector } = await import('./otel/collector');
    await exportToCollector({ endpoint, component, steps });
  };
}

/** Keeps steps until its sink has taken them. */
class StepQueue {
  private steps: FinishedStep[] = [];
  private sink: Sink | undefined;
  private timer: Timer | undefined;
  private sending: Promise<void> = Promise.resolve();

  constructor(private readonly clock: Clock) {}

  add(step: FinishedStep): void {
    if (this.steps.length >= maxBuffered) this.steps = this.steps.slice(maxBuffered / 2);
    this.steps.push(step);
    this.schedule(batchMs);
  }

  setSink(sink: Sink): void {
    this.sink = sink;
    this.schedule(batchMs);
  }

  /** Rejects when the sink does; the steps are kept. */
  flush(): Promise<void> {
    this.timer?.cancel();
    this.timer = undefined;
    const sent = this.sending.then(() => this.send());
    this.sending = sent.catch(() => this.schedule(retryMs));
    return sent;
  }

  private schedule(ms: number): void {
    if (this.timer || !this.sink || this.steps.length === 0) return;
    this.timer = this.clock.setTimeout(
      () => {
        this.timer = undefined;
        // A failure is tried again by `flush` itself.
        this.flush().catch(() => undefined);
      },
      ms,
      { unref: true },
    );
  }

  private async send(): Promise<void> {
    if (!this.sink || this.steps.length === 0) return;
    const batch = this.steps;
    this.steps = [];
    try {
      await this.sink(batch);
    } catch (error) {
      this.steps = [...batch, ...this.steps].slice(-maxBuffered);
      throw error;
    }
  }
}
