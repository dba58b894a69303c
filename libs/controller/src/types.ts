import type { KubeObject } from '@tinkernetes/api';

/** What `reconcile` may ask for besides "done": run again after a time. An error means: run again with back-off. */
export interface ReconcileResult {
  requeueAfterMs?: number;
}

/** Dropped and logged, never retried: the object itself must change first. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** One control loop: brings the object behind a key to its desired state. The key is only a key. */
export interface Reconciler {
  readonly name: string;
  reconcile(key: string, options: { signal: AbortSignal }): Promise<ReconcileResult | void>;
}

export type EventType = 'Normal' | 'Warning';

/** Writes Events; equal ones within 10 minutes are counted up, many similar ones aggregated (client-go's correlator). */
export interface EventRecorder {
  event(object: KubeObject, type: EventType, reason: string, message: string, options?: EventOptions): void;
  /** Resolves when everything recorded so far has been sent. */
  flush(): Promise<void>;
}
export interface EventOptions {
  annotations?: Record<string, string>;
  /** `involvedObject.fieldPath`, e.g. `spec.containers{nginx}`. */
  fieldPath?: string;
}
