import type { KubeObject } from '@tinkernetes/api';
import type { Clock, StepId, StepTracer, TraceParent } from '@tinkernetes/component-base';

type Attributes = Record<string, string | number | boolean>;

interface Measured {
  id: StepId;
  startMs: number;
  /** Undefined: it lasts until the request is over. */
  endMs: number | undefined;
  attributes: Attributes;
}

/**
 * The steps of one traced request. They are handed on at its end, when the object that it is about has a name.
 */
export class RequestSteps {
  private readonly measured: Measured[] = [];

  constructor(
    readonly parent: TraceParent,
    private readonly clock: Clock,
    private readonly tracer: StepTracer,
  ) {}

  /** A step that ends now. */
  mark(id: StepId, startMs: number, attributes: Attributes = {}): void {
    this.measured.push({ id, startMs, endMs: this.clock.now(), attributes });
  }

  add(id: StepId, time: { startMs: number; endMs: number }, attributes: Attributes = {}): void {
    this.measured.push({ id, ...time, attributes });
  }

  addUntilFinished(id: StepId, startMs: number, attributes: Attributes = {}): void {
    this.measured.push({ id, startMs, endMs: undefined, attributes });
  }

  async measure<T>(id: StepId, work: () => T | Promise<T>): Promise<T> {
    const startMs = this.clock.now();
    try {
      return await work();
    } finally {
      this.mark(id, startMs);
    }
  }

  /** The request is over; `object` is what it was about, if it came so far. */
  finish(object: KubeObject | undefined): void {
    const about = object && {
      kind: object.kind ?? '',
      namespace: object.metadata.namespace,
      name: object.metadata.name,
      uid: object.metadata.uid,
    };
    const finished = this.clock.now();
    for (const { id, startMs, endMs = finished, attributes } of this.measured) {
      this.tracer.record(id, { parent: this.parent, object: about, startMs, endMs, attributes });
    }
  }
}
