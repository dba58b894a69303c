import { realClock, type Clock } from './clock';
import { realRandom, type Random } from './random';
import type { FinishedStep, StepId, StepOptions, StepTracer } from './tracing';

export interface StepTracerOptions {
  component: string;
  clock?: Clock;
  random?: Random;
}

/** Placeholder wiring until a sink is set: spans wait in memory, at most `maxBuffered`. */
const maxBuffered = 10_000;

export function createStepTracer({
  component,
  clock = realClock,
  random = realRandom,
}: StepTracerOptions): StepTracer {
  let buffer: FinishedStep[] = [];
  let sink: ((steps: readonly FinishedStep[]) => Promise<void>) | undefined;
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
  };
  const flush = async () => {
    if (!sink || buffer.length === 0) return;
    const batch = buffer;
    buffer = [];
    await sink(batch);
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
    },
    flush,
  };
}
