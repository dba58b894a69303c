import { realClock, type Clock, type Timer } from './clock';
import { realRandom, type Random } from './random';
import type { FinishedStep, StepId, StepOptions, StepTracer } from './tracing';

export interface StepTracerOptions {
  component: string;
  clock?: Clock;
  random?: Random;
}

/** Spans wait in memory until a sink is set and takes them, at most so many; the oldest go first. */
const maxBuffered = 10_000;
/** Finished spans are sent together. */
const sendAfterMs = 100;

export function createStepTracer({
  component,
  clock = realClock,
  random = realRandom,
}: StepTracerOptions): StepTracer {
  let buffer: FinishedStep[] = [];
  let sink: ((steps: readonly FinishedStep[]) => Promise<void>) | undefined;
  let timer: Timer | undefined;
  const sendSoon = () => {
    if (!sink) return;
    timer ??= clock.setTimeout(
      () => {
        timer = undefined;
        // A batch that was not taken goes with the next one.
        flush().catch(() => undefined);
      },
      sendAfterMs,
      { unref: true },
    );
  };
  const finish = (
    id: StepId,
    o: StepOptions,
    spanId: string,
    startMs: number,
    endMs: number,
    extra: Partial<FinishedStep>,
  ) => {
    const [, traceId = '', parentSpanId] = (o.parent ?? '').split('-');
    if (buffer.length >= maxBuffered) buffer = buffer.slice(maxBuffered / 2);
    buffer.push({
      id,
      traceId,
      spanId,
      parentSpanId,
      component,
      node: o.node,
      object: o.object,
      startMs,
      endMs,
      attributes: o.attributes ?? {},
      ...extra,
    });
    sendSoon();
  };
  const flush = async () => {
    if (!sink || buffer.length === 0) return;
    timer?.cancel();
    timer = undefined;
    const batch = buffer;
    buffer = [];
    try {
      await sink(batch);
    } catch (error) {
      buffer = [...batch, ...buffer].slice(-maxBuffered);
      throw error;
    }
  };
  return {
    async step(id, options, work) {
      if (!options.parent) return work({ traceParent: undefined, set() {} });
      const spanId = random.hex(8);
      const attributes = { ...options.attributes };
      const startMs = clock.now();
      const traceParent = `00-${options.parent.split('-')[1]}-${spanId}-01`;
      try {
        const value = await work({ traceParent, set: (more) => void Object.assign(attributes, more) });
        finish(id, { ...options, attributes }, spanId, startMs, clock.now(), {});
        return value;
      } catch (error) {
        finish(id, { ...options, attributes }, spanId, startMs, clock.now(), { error: String(error) });
        throw error;
      }
    },
    record(id, options) {
      if (!options.parent) return;
      finish(id, options, random.hex(8), options.startMs, options.endMs ?? clock.now(), {});
    },
    startTrace: () => `00-${random.hex(16)}-${random.hex(8)}-01`,
    exportTo(next) {
      sink = next;
      if (buffer.length > 0) sendSoon();
    },
    flush,
  };
}
