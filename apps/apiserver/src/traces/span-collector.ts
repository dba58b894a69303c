import type { FinishedStep } from '@tinkernetes/component-base';

/** Spans that are kept at most, about 8 MB; whole traces are forgotten, the oldest first. */
const maxSpans = 20_000;

export interface SpanQuery {
  traceId?: string;
  kind?: string;
  namespace?: string;
  name?: string;
}

/** The latest spans of all components, by trace. In memory: what a run did is of interest for a while only. */
export class SpanCollector {
  private readonly traces = new Map<string, FinishedStep[]>();
  private count = 0;

  constructor(private readonly limit = maxSpans) {}

  add(steps: readonly FinishedStep[]): void {
    for (const step of steps) {
      const spans = this.traces.get(step.traceId);
      if (spans) spans.push(step);
      else this.traces.set(step.traceId, [step]);
    }
    this.count += steps.length;
    while (this.count > this.limit) this.forgetOldest();
  }

  /**
   * The spans of a trace, or of the traces that an object takes part in. What an object's controllers make is in
   * the object's own trace, so that a Deployment's spans include those of its Pods. Of objects that had the same name
   * one after the other, it is the newest.
   */
  find({ traceId, kind, namespace, name }: SpanQuery): FinishedStep[] {
    if (traceId) return inOrder(this.traces.get(traceId) ?? []);
    const matches = ({ object }: FinishedStep) =>
      object !== undefined &&
      (!kind || object.kind.toLowerCase() === kind.toLowerCase()) &&
      (!namespace || object.namespace === namespace) &&
      (!name || object.name === name);
    const traces = [...this.traces.values()].filter((spans) => spans.some(matches));
    const newest = inOrder(traces.flat().filter(matches)).findLast(({ object }) => object?.uid)?.object?.uid;
    const isNewest = (step: FinishedStep) => matches(step) && (!newest || step.object?.uid === newest);
    return inOrder(traces.filter((spans) => spans.some(isNewest)).flat());
  }

  get size(): number {
    return this.count;
  }

  private forgetOldest(): void {
    const [oldest] = this.traces.keys();
    if (oldest === undefined) return;
    this.count -= this.traces.get(oldest)?.length ?? 0;
    this.traces.delete(oldest);
  }
}

const inOrder = (spans: readonly FinishedStep[]): FinishedStep[] =>
  [...spans].sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
