/** W3C trace context: `00-<trace id>-<span id>-01`. */
export type TraceParent = string;

/** Span names: the steps from `kubectl run` to a running container (docs/pod-steps.md). */
export type StepId =
  | 'kubectl.command'
  | 'kubectl.validate'
  | 'kubectl.generate'
  | 'kubectl.negotiate'
  | 'kubectl.encode'
  | 'kubectl.authenticate'
  | 'kubectl.send'
  | 'apiserver.authentication'
  | 'apiserver.authentication.result'
  | 'apiserver.context'
  | 'apiserver.authorization'
  | 'apiserver.decode'
  | 'apiserver.admission'
  | 'apiserver.storage.write'
  | 'apiserver.initializers'
  | 'apiserver.respond'
  | 'deployment.reconcile'
  | 'deployment.replicaset'
  | 'deployment.status'
  | 'replicaset.reconcile'
  | 'replicaset.pods'
  | 'replicaset.status'
  | 'scheduler.queue'
  | 'scheduler.filter'
  | 'scheduler.score'
  | 'scheduler.bind'
  | 'apiserver.binding'
  | 'apiserver.binding.apply'
  | 'kubelet.sync'
  | 'kubelet.status.generate'
  | 'kubelet.status.update'
  | 'kubelet.admit'
  | 'kubelet.directories'
  | 'kubelet.pullsecrets'
  | 'kubelet.cri'
  | 'kubelet.cgroup'
  | 'runtime.sandbox'
  | 'cni.add'
  | 'cni.ipam'
  | 'runtime.pull'
  | 'kubelet.containerconfig'
  | 'runtime.create'
  | 'kubelet.metadata'
  | 'runtime.start'
  | 'kubelet.hooks'
  | 'kubelet.running';

export interface StepObject {
  kind: string;
  namespace?: string;
  name: string;
  uid?: string;
}

export interface StepOptions {
  /** The trace this step belongs to. Without one no span is made: a trace starts only where an object is created. */
  parent: TraceParent | undefined;
  object?: StepObject;
  node?: string;
  /** What was decided, e.g. `{ authorizer: 'RBAC', rule: '…' }`. */
  attributes?: Record<string, string | number | boolean>;
}

export interface StepSpan {
  /** To hand on (a request header, a gRPC metadata entry). Undefined when nothing is traced. */
  readonly traceParent: TraceParent | undefined;
  set(attributes: Record<string, string | number | boolean>): void;
}

/** A finished span as it is exported and as `tinkernetes trace` reads it. Times are epoch milliseconds. */
export interface FinishedStep {
  id: StepId;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  component: string;
  node?: string;
  object?: StepObject;
  startMs: number;
  endMs: number;
  attributes: Record<string, string | number | boolean>;
  error?: string;
}

/** Records the named steps. A span exists only where the work ran. */
export interface StepTracer {
  /** Runs `work` inside a span; a rejection is recorded and rethrown. */
  step<T>(id: StepId, options: StepOptions, work: (span: StepSpan) => T | Promise<T>): Promise<T>;
  /** Records a step that was measured otherwise (e.g. time spent in a queue). */
  record(id: StepId, options: StepOptions & { startMs: number; endMs?: number }): void;
  /** A new trace, or undefined when tracing is off. */
  startTrace(): TraceParent | undefined;
  /** Where finished spans go; components set this once they can reach the apiserver. Spans before that are kept. */
  exportTo(sink: (steps: readonly FinishedStep[]) => Promise<void>): void;
  flush(): Promise<void>;
}
