import { CompactedError, type StorageBatch, type StorageEvent } from '../types';
import type { Change, Driver } from './driver';

/** Events that wait for one watcher; beyond it the watcher reads from history instead, so that memory stays bounded. */
const maxQueued = 10_000;
const pageSize = 500;

type WatchDriver = Pick<Driver, 'state' | 'readChanges'>;

class Watcher {
  queue: Change[] = [];
  /** The queue holds every matching change after this revision. */
  queueFrom: number;
  /** Everything up to here has been delivered. */
  position: number;
  private wakeUp: (() => void) | undefined;

  constructor(
    readonly prefix: string,
    afterRevision: number,
    published: number,
  ) {
    this.position = afterRevision;
    this.queueFrom = Math.max(afterRevision, published);
  }

  push(change: Change): void {
    if (change.revision <= this.queueFrom || !change.key.startsWith(this.prefix)) return;
    if (this.queue.length >= maxQueued) this.skipTo(change.revision);
    else this.queue.push(change);
  }

  /** Changes up to `revision` will have to be read from history. */
  skipTo(revision: number): void {
    if (revision <= this.queueFrom) return;
    this.queue = [];
    this.queueFrom = revision;
  }

  wake(): void {
    this.wakeUp?.();
    this.wakeUp = undefined;
  }

  /** Until `wake`. */
  wait(): Promise<void> {
    return new Promise((resolve) => (this.wakeUp = resolve));
  }
}

/** Joins history and live changes into one gapless stream per watcher. */
export class WatchHub {
  private readonly watchers = new Set<Watcher>();
  private published = 0;
  private progressScheduled = false;
  private closed = false;
  private failure: Error | undefined;

  constructor(private readonly driver: WatchDriver) {}

  start(revision: number): void {
    this.published = Math.max(this.published, revision);
  }

  publish(changes: Change[], revision: number): void {
    this.published = revision;
    for (const watcher of this.watchers) {
      for (const change of changes) watcher.push(change);
      if (watcher.queue.length > 0) watcher.wake();
    }
    this.scheduleProgress();
  }

  /** Changes up to `revision` were missed: watchers must read them from history, or learn that it is gone. */
  publishGap(revision: number): void {
    this.published = revision;
    for (const watcher of this.watchers) {
      watcher.skipTo(revision);
      watcher.wake();
    }
  }

  /** Ends all watches; with an error, they reject with it. */
  close(error?: Error): void {
    this.closed = true;
    this.failure ??= error;
    for (const watcher of this.watchers) watcher.wake();
  }

  async *watch(
    prefix: string,
    { afterRevision, signal }: { afterRevision: number; signal: AbortSignal },
  ): AsyncGenerator<StorageBatch, void> {
    const watcher = new Watcher(prefix, afterRevision, this.published);
    this.watchers.add(watcher);
    const onAbort = () => watcher.wake();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.refuseCompacted(afterRevision);
      while (!signal.aborted && !this.closed) {
        const batch =
          watcher.position < watcher.queueFrom ? await this.catchUp(watcher) : this.takeLive(watcher);
        if (batch) yield batch;
        else await watcher.wait();
      }
      if (this.failure && !signal.aborted) throw this.failure;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.watchers.delete(watcher);
    }
  }

  private async catchUp(watcher: Watcher): Promise<StorageBatch> {
    const after = watcher.position;
    const upTo = watcher.queueFrom;
    const page = await this.driver.readChanges(watcher.prefix, { after, upTo, limit: pageSize });
    await this.refuseCompacted(after);
    watcher.position = page.reached;
    return batchOf(page.changes, page.reached);
  }

  private takeLive(watcher: Watcher): StorageBatch | undefined {
    const changes = watcher.queue;
    if (changes.length === 0 && watcher.position >= this.published) return undefined;
    watcher.queue = [];
    watcher.position = Math.max(watcher.position, this.published);
    watcher.queueFrom = watcher.position;
    return batchOf(changes, watcher.position);
  }

  private async refuseCompacted(afterRevision: number): Promise<void> {
    const { compactRevision } = await this.driver.state();
    if (afterRevision < compactRevision) throw new CompactedError(afterRevision, compactRevision);
  }

  /** Watchers whose keys did not change learn the new revision once a turn of the loop, not once a write. */
  private scheduleProgress(): void {
    if (this.progressScheduled) return;
    this.progressScheduled = true;
    setImmediate(() => {
      this.progressScheduled = false;
      for (const watcher of this.watchers) watcher.wake();
    });
  }
}

function batchOf(changes: Change[], revision: number): StorageBatch {
  if (changes.length === 0) return { kind: 'progress', revision };
  return { kind: 'events', events: changes.map(eventOf), revision };
}

const noValue = new Uint8Array();

function eventOf({ revision, key, current, previous }: Change): StorageEvent {
  const event: StorageEvent = current
    ? { type: 'PUT', revision, key, current }
    : {
        type: 'DELETE',
        revision,
        key,
        current: { key, value: noValue, createRevision: 0, modRevision: revision, version: 0 },
      };
  if (previous) event.previous = previous;
  return event;
}
