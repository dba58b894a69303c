import type { Pod } from '@tinkernetes/api';
import type { Clock, Timer } from '@tinkernetes/component-base';
import { podKey, uidOf } from '../cache/pod-info';
import { labelOf, matchesHint, type ClusterEvent, type EventHint } from '../framework/cluster-event';
import type { Status } from '../framework/status';
import { Heap } from './heap';
import type { QueuedPod } from './queued-pod';

export interface QueueOptions {
  clock: Clock;
  less(a: QueuedPod, b: QueuedPod): boolean;
  /** Undefined: the Pod may be scheduled. */
  preEnqueue(pod: Pod): Status | undefined;
  /** After which events a Pod that the plugin refused may fit; undefined: after all. */
  hintsOf(plugin: string): readonly EventHint[] | undefined;
  initialBackoffMs: number;
  maxBackoffMs: number;
  /** Waiting longer than this, a Pod is tried again even if nothing happened that seemed to help. */
  maxUnschedulableMs: number;
  onIncoming?(queue: QueueName, event: string): void;
}
export type QueueName = 'active' | 'backoff' | 'unschedulable' | 'gated';

/** By plugins, which tell what to wait for; otherwise only time can help. */
const isRefused = ({ unschedulablePlugins, pendingPlugins }: QueuedPod): boolean =>
  unschedulablePlugins.size > 0 || pendingPlugins.size > 0;
const keyOf = ({ pod }: QueuedPod): string => uidOf(pod);

/**
 * Pods without a node, in three places: `active` by priority, `backoff` for a while after a refusal, and
 * `unschedulable` until an event that may help. Nothing here polls: timers are set for what falls due next.
 * Source: pkg/scheduler/backend/queue.
 */
export class SchedulingQueue {
  private readonly active: Heap<QueuedPod>;
  private readonly backoff: Heap<QueuedPod>;
  private readonly unschedulable = new Map<string, QueuedPod>();
  /** Pods that are being scheduled, with the number of events before they were popped. */
  private readonly inFlight = new Map<string, number>();
  private events: ClusterEvent[] = [];
  /** Number of events dropped from the front of `events`. */
  private droppedEvents = 0;
  private waiters: (() => void)[] = [];
  private backoffTimer: Timer | undefined;
  private leftoverTimer: Timer | undefined;
  private closed = false;

  constructor(private readonly options: QueueOptions) {
    this.active = new Heap(keyOf, (a, b) => options.less(a, b));
    this.backoff = new Heap(keyOf, (a, b) => this.backoffEnd(a) < this.backoffEnd(b));
  }

  /** The next Pod, or undefined when closed. `done` must be called for it once its fate is known. */
  async pop(): Promise<QueuedPod | undefined> {
    while (!this.closed) {
      const next = this.takeNext();
      if (next) return next;
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
    return undefined;
  }

  add(pod: Pod): void {
    const now = this.options.clock.now();
    this.enqueue(
      {
        pod,
        timestamp: now,
        initialAttemptAt: now,
        attempts: 0,
        refusals: 0,
        erred: false,
        unschedulablePlugins: new Set(),
        pendingPlugins: new Set(),
        gatedBy: undefined,
      },
      'PodAdd',
    );
  }

  /** A waiting Pod changed. */
  update(before: Pod, after: Pod, events: readonly ClusterEvent[]): void {
    const uid = uidOf(after);
    const waiting = this.active.get(uid) ?? this.backoff.get(uid);
    if (waiting) {
      waiting.pod = after;
      if (this.active.get(uid)) this.active.push(waiting);
      return;
    }
    const stuck = this.unschedulable.get(uid);
    if (stuck) {
      stuck.pod = after;
      for (const event of events)
        if (this.unschedulable.has(uid) && this.mayHelp(stuck, event)) this.moveOn(stuck, labelOf(event));
      return;
    }
    if (this.inFlight.has(uid)) for (const event of events) this.remember(event);
    else this.add(after);
  }

  delete(pod: Pod): void {
    const uid = uidOf(pod);
    this.active.delete(uid);
    this.backoff.delete(uid);
    this.unschedulable.delete(uid);
  }

  /** Puts a Pod back whose attempt failed; events since it was popped are taken into account. */
  addUnschedulable(queued: QueuedPod): void {
    const uid = uidOf(queued.pod);
    const since = this.inFlight.get(uid);
    const missed = since === undefined ? [] : this.events.slice(since - this.droppedEvents);
    this.done(queued.pod);
    if (this.active.get(uid) || this.backoff.get(uid) || this.unschedulable.has(uid)) return;
    queued.timestamp = this.options.clock.now();
    if (!queued.erred) queued.refusals++;
    if (!isRefused(queued) || missed.some((event) => this.mayHelp(queued, event))) {
      this.moveOn(queued, 'ScheduleAttemptFailure');
      return;
    }
    this.unschedulable.set(uid, queued);
    this.options.onIncoming?.('unschedulable', 'ScheduleAttemptFailure');
    this.armLeftover();
  }

  /** The attempt for this Pod is over: bound, or put back. */
  done(pod: Pod): void {
    this.inFlight.delete(uidOf(pod));
    const oldest = Math.min(...this.inFlight.values(), this.droppedEvents + this.events.length);
    if (oldest > this.droppedEvents) {
      this.events = this.events.slice(oldest - this.droppedEvents);
      this.droppedEvents = oldest;
    }
  }

  /** Wakes the Pods that the event may help. */
  moveAllOn(event: ClusterEvent): void {
    this.remember(event);
    for (const queued of [...this.unschedulable.values()]) {
      if (this.mayHelp(queued, event)) this.moveOn(queued, labelOf(event));
    }
  }

  /** The plugin whose PreEnqueue holds the Pod back, if it does, no longer does. */
  activateHeldBack(pod: Pod, plugin: string): void {
    const queued = this.unschedulable.get(uidOf(pod));
    if (queued?.gatedBy !== plugin) return;
    this.unschedulable.delete(uidOf(pod));
    this.enqueue(queued, 'ForceActivate');
  }

  close(): void {
    this.closed = true;
    this.backoffTimer?.cancel();
    this.leftoverTimer?.cancel();
    this.wake();
  }

  counts(): Record<QueueName, number> {
    let gated = 0;
    for (const { gatedBy } of this.unschedulable.values()) if (gatedBy !== undefined) gated++;
    return {
      active: this.active.size,
      backoff: this.backoff.size,
      unschedulable: this.unschedulable.size - gated,
      gated,
    };
  }

  /** Every waiting Pod with the place where it waits. */
  list(): { queue: QueueName; pod: string; attempts: number; gatedBy?: string }[] {
    const row = (queue: QueueName) => (queued: QueuedPod) => ({
      queue: queued.gatedBy === undefined ? queue : ('gated' as const),
      pod: podKey(queued.pod),
      attempts: queued.attempts,
      gatedBy: queued.gatedBy,
    });
    return [
      ...this.active.values().map(row('active')),
      ...this.backoff.values().map(row('backoff')),
      ...[...this.unschedulable.values()].map(row('unschedulable')),
    ];
  }

  /** When nothing else is to be done, a Pod need not sit out its back-off, unless an error put it there. */
  private takeNext(): QueuedPod | undefined {
    const next = this.active.pop() ?? this.takeFromBackoff();
    if (!next) return undefined;
    next.attempts++;
    this.inFlight.set(uidOf(next.pod), this.droppedEvents + this.events.length);
    return next;
  }

  private takeFromBackoff(): QueuedPod | undefined {
    for (;;) {
      const earliest = this.backoff
        .values()
        .filter((queued) => !queued.erred && isRefused(queued))
        .reduce<QueuedPod | undefined>(
          (a, b) => (a && this.backoffEnd(a) <= this.backoffEnd(b) ? a : b),
          undefined,
        );
      if (!earliest) return undefined;
      this.backoff.delete(keyOf(earliest));
      if (!this.holdBack(earliest, 'BackoffComplete')) return earliest;
    }
  }

  private enqueue(queued: QueuedPod, event: string): void {
    if (this.holdBack(queued, event)) return;
    this.active.push(queued);
    this.options.onIncoming?.('active', event);
    this.wake();
  }

  /** True when a PreEnqueue plugin keeps the Pod out of the active queue. */
  private holdBack(queued: QueuedPod, event: string): boolean {
    const held = this.options.preEnqueue(queued.pod);
    queued.gatedBy = held && (held.plugin ?? '');
    if (queued.gatedBy === undefined) return false;
    queued.unschedulablePlugins = new Set([queued.gatedBy]);
    this.unschedulable.set(uidOf(queued.pod), queued);
    this.options.onIncoming?.('gated', event);
    return true;
  }

  /** To the active queue, or to the back-off queue while its back-off lasts. */
  private moveOn(queued: QueuedPod, event: string): void {
    this.unschedulable.delete(uidOf(queued.pod));
    if (queued.gatedBy !== undefined || this.backoffEnd(queued) <= this.options.clock.now()) {
      this.enqueue(queued, event);
      return;
    }
    this.backoff.push(queued);
    this.options.onIncoming?.('backoff', event);
    this.armBackoff();
    this.wake();
  }

  private mayHelp(queued: QueuedPod, event: ClusterEvent): boolean {
    const plugins = [...queued.unschedulablePlugins, ...queued.pendingPlugins];
    return plugins.some((plugin) => {
      const hints = this.options.hintsOf(plugin);
      return hints === undefined || matchesHint(hints, queued.pod, event);
    });
  }

  /** Pods in flight must not miss it. */
  private remember(event: ClusterEvent): void {
    if (this.inFlight.size > 0) this.events.push(event);
  }

  private backoffEnd({ timestamp, refusals, erred, attempts }: QueuedPod): number {
    const times = erred ? attempts : refusals;
    if (times === 0) return timestamp;
    const { initialBackoffMs, maxBackoffMs } = this.options;
    return timestamp + Math.min(maxBackoffMs, initialBackoffMs * 2 ** Math.min(times - 1, 20));
  }

  private armBackoff(): void {
    this.backoffTimer?.cancel();
    const first = this.backoff.peek();
    if (!first || this.closed) return;
    const { clock } = this.options;
    this.backoffTimer = clock.setTimeout(
      () => this.flushBackoff(),
      Math.max(0, this.backoffEnd(first) - clock.now()),
      { unref: true },
    );
  }

  private flushBackoff(): void {
    const now = this.options.clock.now();
    for (
      let first = this.backoff.peek();
      first && this.backoffEnd(first) <= now;
      first = this.backoff.peek()
    ) {
      this.backoff.pop();
      this.enqueue(first, 'BackoffComplete');
    }
    this.armBackoff();
  }

  /** For the Pod that has been unschedulable for longest. */
  private armLeftover(): void {
    if (this.leftoverTimer || this.closed) return;
    const oldest = Math.min(...[...this.unschedulable.values()].map(({ timestamp }) => timestamp));
    if (oldest === Infinity) return;
    const { clock } = this.options;
    this.leftoverTimer = clock.setTimeout(
      () => this.flushLeftover(),
      Math.max(0, oldest + this.options.maxUnschedulableMs - clock.now()),
      { unref: true },
    );
  }

  private flushLeftover(): void {
    this.leftoverTimer = undefined;
    const before = this.options.clock.now() - this.options.maxUnschedulableMs;
    for (const queued of [...this.unschedulable.values()]) {
      if (queued.timestamp > before || queued.gatedBy !== undefined) continue;
      this.moveOn(queued, 'UnschedulableTimeout');
    }
    const waiting = [...this.unschedulable.values()].some(({ gatedBy }) => gatedBy === undefined);
    if (waiting) this.armLeftover();
  }

  private wake(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }
}
