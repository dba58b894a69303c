import type { KubeObject } from '@tinkernetes/api';
import type { TraceParent } from '@tinkernetes/component-base';

/** Trace contexts beside the objects they belong to: never inside, so that an object's bytes stay what the server sent. */
export class TraceContexts {
  private readonly byObject = new WeakMap<KubeObject, TraceParent>();

  of(object: KubeObject): TraceParent | undefined {
    return this.byObject.get(object);
  }

  set(object: KubeObject, trace: TraceParent | undefined): void {
    if (trace) this.byObject.set(object, trace);
  }
}
