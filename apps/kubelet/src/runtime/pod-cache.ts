import type { Clock } from '@tinkernetes/component-base';
import type { ContainerEventResponse, RuntimeClient } from '@tinkernetes/cri';
import { inspectPod } from './pod-inspection';
import {
  containersOfEvent,
  emptyPodRuntimeStatus,
  podRuntimeStatus,
  type PodRuntimeStatus,
  type RuntimeContainer,
} from './pod-runtime-status';

/** How far a container or sandbox has come; it never goes back. */
export type Progress = 'created' | 'running' | 'exited' | 'removed';
const order: Record<Progress, number> = { created: 0, running: 1, exited: 2, removed: 3 };

interface Entry {
  /** Undefined when stale. */
  status: PodRuntimeStatus | undefined;
  /** Counts changes, so that an answer that was overtaken is not kept. */
  generation: number;
  /** What the kubelet itself does, by container or sandbox: a view from before that is not taken. */
  expected: Map<string, Progress> | undefined;
  /** As far as known; events tell of one sandbox only. */
  sandboxIds: readonly string[] | undefined;
  arrived: Set<() => void> | undefined;
  acting: number;
}

/**
 * An event comes with the answer of the call that caused it; after this time the runtime is asked. On a busy machine it
 * may take its time, and questions would make the machine busier still.
 */
const eventLatencyMs = 1000;

/**
 * The runtime's view of each Pod: what its events say, where they say enough, else asked for when an event or the
 * kubelet's own action has made the last answer stale. A Pod nobody touched costs no CRI call, a new one neither.
 */
export class PodCache {
  private readonly entries = new Map<string, Entry>();
  private isComplete = false;
  private isFollowing = false;

  constructor(
    private readonly runtime: RuntimeClient,
    private readonly clock: Clock,
  ) {}

  /** While the runtime streams events, what it is asked to do is seen in them. */
  set following(value: boolean) {
    this.isFollowing = value;
  }

  /** The next `get` asks the runtime. */
  invalidate(uid: string): void {
    const entry = this.entryOf(uid);
    entry.status = undefined;
    entry.generation++;
  }

  forget(uid: string): void {
    this.entries.delete(uid);
  }

  get size(): number {
    return this.entries.size;
  }

  /**
   * To be called with what the runtime is being asked to do or has done, so that no older view is returned from now on.
   */
  expect(uid: string, id: string, progress: Progress): void {
    const entry = this.entryOf(uid);
    if (entry.status && reached(entry.status, id, progress)) return;
    (entry.expected ??= new Map()).set(id, progress);
    entry.status = undefined;
    entry.generation++;
  }

  /** The runtime could not do it, or not yet. */
  failed(uid: string, id: string): void {
    this.entries.get(uid)?.expected?.delete(id);
    this.invalidate(uid);
  }

  /** While the work runs, what is created and started is the worker's own doing. */
  async whileActing<T>(uid: string, work: () => Promise<T>): Promise<T> {
    const entry = this.entryOf(uid);
    entry.acting++;
    try {
      return await work();
    } finally {
      entry.acting--;
    }
  }

  /** As last seen; undefined when that is stale. */
  peek(uid: string): PodRuntimeStatus | undefined {
    return this.entries.get(uid)?.status;
  }

  /** Of these Pods, as far as last seen. */
  *containers(uids: Iterable<string>): Generator<RuntimeContainer> {
    for (const uid of uids) yield* this.peek(uid)?.containers ?? [];
  }

  async get(uid: string, name = '', namespace = ''): Promise<PodRuntimeStatus> {
    const entry = this.entries.get(uid);
    // Nobody but the kubelet makes containers of Pods: what no listing showed is not there.
    if (!entry && this.isComplete) return emptyPodRuntimeStatus(uid, name, namespace);
    if (entry && !entry.status && this.isFollowing && entry.expected?.size && entry.sandboxIds)
      await this.arrival(entry);
    return this.peek(uid) ?? this.inspect(uid, name, namespace);
  }

  /** Takes an event's view of the Pod. True when it tells of something that the kubelet isn't doing itself. */
  observe(uid: string, event: ContainerEventResponse, progress: Progress): boolean {
    const id = event.containerId;
    const entry = this.entryOf(uid);
    if (entry.status && reached(entry.status, id, progress)) return false;
    const asked = entry.expected?.get(id);
    const own =
      (asked !== undefined && order[asked] >= order[progress]) ||
      (order[progress] <= order.running && entry.acting > 0);
    const sandbox = event.podSandboxStatus;
    const others = [...(entry.sandboxIds ?? [''])].some((other) => other !== sandbox?.id);
    entry.generation++;
    if (!sandbox || others) {
      entry.status = undefined;
      if (others) entry.sandboxIds = undefined;
    } else {
      this.accept(entry, podRuntimeStatus({ uid }, [sandbox], containersOfEvent(event, sandbox.id)));
    }
    return !own;
  }

  /** Starts a listing of everything; what it returns is to be called with the Pods that the runtime has. */
  listing(): (present: ReadonlySet<string>) => void {
    const before = new Map([...this.entries].map(([uid, { generation }]) => [uid, generation]));
    return (present) => {
      this.isComplete = true;
      for (const [uid, generation] of before) {
        const entry = this.entries.get(uid);
        if (!present.has(uid) && entry?.generation === generation && entry.acting === 0)
          this.entries.delete(uid);
      }
    };
  }

  private entryOf(uid: string): Entry {
    const known = this.entries.get(uid);
    if (known) return known;
    const entry: Entry = {
      status: undefined,
      generation: 0,
      expected: undefined,
      sandboxIds: this.isComplete ? [] : undefined,
      arrived: undefined,
      acting: 0,
    };
    this.entries.set(uid, entry);
    return entry;
  }

  private async inspect(uid: string, name: string, namespace: string): Promise<PodRuntimeStatus> {
    const entry = this.entryOf(uid);
    const { generation } = entry;
    const status = await inspectPod(this.runtime, { uid, name, namespace });
    if (entry.generation === generation) {
      entry.expected = undefined;
      this.accept(entry, status);
    }
    return status;
  }

  private accept(entry: Entry, status: PodRuntimeStatus): void {
    const { expected } = entry;
    entry.sandboxIds = status.sandboxes.map((s) => s.id);
    for (const [id, progress] of expected ?? []) if (reached(status, id, progress)) expected?.delete(id);
    if (expected?.size === 0) entry.expected = undefined;
    entry.status = entry.expected ? undefined : status;
    if (entry.status) for (const arrived of entry.arrived ?? []) arrived();
  }

  private arrival(entry: Entry): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        timer.cancel();
        entry.arrived?.delete(done);
        if (entry.arrived?.size === 0) entry.arrived = undefined;
        resolve();
      };
      const timer = this.clock.setTimeout(done, eventLatencyMs);
      (entry.arrived ??= new Set()).add(done);
    });
  }
}

/** Whether the container or sandbox has come at least as far. */
function reached(status: PodRuntimeStatus, id: string, progress: Progress): boolean {
  const container = status.containers.find((c) => c.id === id);
  if (container) return container.state !== 'unknown' && order[container.state] >= order[progress];
  const sandbox = status.sandboxes.find((s) => s.id === id);
  if (!sandbox) return progress === 'removed';
  // A sandbox that isn't ready may be a new or an old one.
  return sandbox.state === 'SANDBOX_READY' ? order[progress] <= order.running : progress === 'exited';
}
