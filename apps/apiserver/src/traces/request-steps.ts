import type { KubeObject } from '@tinkernetes/api';
import type { Clock, StepId, StepTracer, TraceParent } from '@tinkernetes/component-base';

interface Measured {
  id: StepId;
  startMs: number;
  endMs: number;
  attributes: Record<string, string | number | boolean>;
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

  mark(id: StepId, startMs: number, attributes: Measured['attributes'] = {}): void {
    this.measured.push({ id, startMs, endMs: this.clock.now(), attributes });
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
    for (const { id, startMs, endMs, attributes } of this.measured) {
      this.tracer.record(id, { parent: this.parent, object: about, startMs, endMs, attributes });
    }
  }
}
