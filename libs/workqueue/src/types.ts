/**
 * client-go's work queue: a key waits at most once, never runs twice at once, and is run again when it was added
 * while it ran. Source: k8s.io/client-go/util/workqueue.
 */
export interface RateLimitingQueue {
  /** `seen`: see `WorkItem.minResourceVersion`; what several adds and runs ask for is merged. */
  add(key: string, seen?: string): void;
  /** Adds after `ms`; an earlier pending delay for the key wins. */
  addAfter(key: string, ms: number, seen?: string): void;
  /** Adds after the key's back-off: 5 ms doubling to 1000 s, and an overall bucket of 10/s with bursts of 100. */
  addRateLimited(key: string): void;
  /** Resets the key's back-off. */
  forget(key: string): void;
  numRequeues(key: string): number;
  /** The next key, or undefined once shut down (and drained). The caller must call `done` on it. */
  get(): Promise<WorkItem | undefined>;
  readonly length: number;
  /** No more adds; `get` still hands out what waits. Resolves when nothing runs any more. */
  shutDown(): Promise<void>;
}

export interface WorkItem {
  readonly key: string;
  /** Aborted when this worker no longer owns the key (a distributed queue's lock was lost). */
  readonly signal: AbortSignal;
  /**
   * Whether the key is still this worker's for certain. Where a process stood still, this says no before its own timers
   * have had a chance to abort `signal`.
   */
  isHeld(): boolean;
  /**
   * What the worker's caches must have reached, by resource: `pods=120,replicasets.apps=125`. It is what the key's last
   * run wrote (`done`), in whichever process, and the changes for which the key was added (`add`).
   */
  readonly minResourceVersion?: string;
  /** The last run did not come to its end: what it wrote is not in `minResourceVersion`. */
  readonly isTakenOver: boolean;
  /** Ends the run. `wroteResourceVersion` is handed to the key's next run. */
  done(result?: { wroteResourceVersion?: string }): void;
}

export interface WorkQueueFactory {
  /** `name` is the controller's, for metrics (`workqueue_depth{name=…}`). */
  create(name: string): RateLimitingQueue;
  close(): Promise<void>;
}
