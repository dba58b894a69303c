import type { Timer } from '@tinkernetes/component-base';
import type { CacheEntry } from '../cacher/cache-entry';
import type { CacheEvent } from '../cacher/cache-event';
import type { ServedResource } from '../registry/generic/served-resource';
import { statusOf } from '../server/respond';
import { Slices } from '../server/slices';
import type { EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';
import type { ListQuery } from './list-options';
import { PendingFrames } from './pending-frames';
import type { Selection } from './selection';
import { tooOld } from './watch-errors';
import type { FrameType, WatchFrames } from './watch-frames';
import { WatchOutput } from './watch-output';

const bookmarkPeriodMs = 60_000;
/** The last bookmark comes this long before the stream's end. */
const bookmarkBeforeEndMs = 2000;
/** Events that may wait for a conversion, which a webhook does, before their watcher counts as too slow; upstream's queue. */
const maxWaitingEvents = 1000;
/** Bytes that may wait for a watcher's socket before it counts as too slow. They are shared by all who wait for them. */
const maxPendingBytes = 16 * 1024 * 1024;

export interface WatchStreamOptions {
  frames: WatchFrames;
  selection: Selection;
  query: ListQuery;
}

/** One watcher: turns cache events into frames on its response until it ends. */
export class WatchStream {
  readonly done: Promise<void>;
  private finish: () => void = () => undefined;
  private unsubscribe: () => void = () => undefined;
  private timers: Timer[] = [];
  private readonly pending = new PendingFrames();
  private readonly output: WatchOutput;
  private allowedBytes = maxPendingBytes;
  private ended = false;
  private countEvent: (bytes: number) => void = () => undefined;
  private converting: Promise<void> = Promise.resolve();
  private waitingEvents = 0;
  /** Revision up to which everything has been sent. */
  private sent = 0;

  constructor(
    private readonly context: EndpointContext,
    private readonly request: ResourceRequest,
    private readonly options: WatchStreamOptions,
  ) {
    this.done = new Promise((resolve) => (this.finish = resolve));
    const drained = { flush: () => this.flush() };
    this.output = new WatchOutput(request.response, () => context.feed.turns.later(drained));
  }

  open(): void {
    const { response, signal } = this.request;
    response.writeHead(200, {
      'Content-Type': this.options.frames.contentType,
      'Cache-Control': 'no-cache, private',
    });
    response.flushHeaders();
    this.output.open();
    response.socket?.setNoDelay(true);
    signal.addEventListener('abort', () => this.end(), { once: true });
    response.on('close', () => this.end());
    this.countEvent = this.context.requestMetrics.watchEvents(this.request.info);
    this.startTimers();
  }

  /** What is there already; no faster than the client reads. */
  async initial(entries: readonly CacheEntry[]): Promise<void> {
    const { signal } = this.request;
    const { frames, selection } = this.options;
    const slices = new Slices(this.context.clock);
    for (const entry of entries) {
      if (this.ended) return;
      if (selection.matches(entry)) this.write(frames.single('ADDED', entry));
      if (!slices.areUsedUp) continue;
      for (this.flush(); !this.ended && this.output.needsDrain; this.flush())
        await this.output.drained(signal).catch(() => this.end());
      await slices.next();
    }
  }

  endOfInitialEvents(revision: number): void {
    this.write(this.options.frames.bookmark(revision, true));
    this.flush();
  }

  /** Sends what happened after `revision`, then everything that happens. */
  follow(revision: number): void {
    if (this.ended) return;
    this.flush();
    const { cache } = storeOf(this.request);
    this.sent = revision;
    const missed = cache.eventsSince(revision);
    if (!missed) {
      this.fail(tooOld(revision, cache.oldestResumable));
      return;
    }
    const { prepare } = this.request.resource;
    const receive = prepare
      ? (event: CacheEvent) => this.later(event, prepare)
      : (event: CacheEvent) => this.event(event);
    for (const event of missed) receive(event);
    this.flush();
    // What was missed is there all at once, whoever watches, and no more than the cache keeps anyway.
    const allowed = this.waitingEvents + maxWaitingEvents;
    this.allowedBytes = this.pending.bytes + maxPendingBytes;
    this.unsubscribe = cache.subscribe({
      event: (event) => {
        receive(event);
        if (this.waitingEvents > allowed) this.terminate();
      },
      flush: () => {
        this.flush();
        if (this.pending.bytes > this.allowedBytes) this.terminate();
      },
      close: () => this.end(),
    });
    this.request.begun();
  }

  /** An event whose states have to be converted first; they stay in order. */
  private later(event: CacheEvent, prepare: NonNullable<ServedResource['prepare']>): void {
    const states = [event.entry, event.leaving, ...(event.previous ? [event.previous] : [])];
    this.waitingEvents += 1;
    this.converting = this.converting
      .then(() => (this.ended ? undefined : prepare(states)))
      .then(() => {
        this.event(event);
        this.flush();
      })
      .catch((error: unknown) => this.fail(error))
      .finally(() => (this.waitingEvents -= 1));
  }

  private event(event: CacheEvent): void {
    if (this.ended || event.revision <= this.sent) return;
    const { selection, frames } = this.options;
    const type = frameType(event, selection);
    if (!type) return;
    this.write(frames.shared(event, type, type === 'DELETED' ? event.leaving : event.entry));
  }

  private write(frame: Buffer): void {
    this.pending.push(frame);
    this.countEvent(frame.length);
  }

  /** Few writes to the socket for all frames of a batch; while the client doesn't read, they wait here, shared. */
  private flush(): void {
    if (this.ended) return;
    while (!this.pending.isEmpty && !this.output.needsDrain) this.output.write(this.pending.take());
    if (this.pending.isEmpty) this.allowedBytes = maxPendingBytes;
  }

  /**
   * Closes a watch whose client doesn't keep up, without a word, as upstream does: the client starts another one from
   * where it is. What waits for it is dropped at once.
   */
  private terminate(): void {
    if (this.ended) return;
    storeOf(this.request).cache.countTerminated();
    this.pending.clear();
    this.request.response.destroy();
    this.end();
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.write(this.options.frames.error(statusOf(error)));
    this.flush();
    this.end();
  }

  private startTimers(): void {
    const { clock, context } = this.context;
    const { query } = this.options;
    const least = this.context.options.minRequestTimeoutSeconds;
    const seconds = query.timeoutSeconds ?? least * (1 + context.random.next());
    this.timers.push(clock.setTimeout(() => this.end(), seconds * 1000, { unref: true }));
    if (!query.allowWatchBookmarks) return;
    this.timers.push(clock.setInterval(() => this.bookmark(), bookmarkPeriodMs, { unref: true }));
    const last = seconds * 1000 - bookmarkBeforeEndMs;
    if (last > 0) this.timers.push(clock.setTimeout(() => this.bookmark(), last, { unref: true }));
  }

  private bookmark(): void {
    const { revision } = storeOf(this.request).cache;
    // It says that everything up to there has been sent.
    this.converting = this.converting.then(() => {
      this.write(this.options.frames.bookmark(revision, false));
      this.flush();
    });
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.unsubscribe();
    for (const timer of this.timers) timer.cancel();
    this.output.end(this.pending.takeAll());
    this.finish();
  }
}

/** What a change is to a watcher that sees a selection of the objects; undefined: nothing. */
export function frameType(event: CacheEvent, selection: Selection): FrameType | undefined {
  const { namespace, name } = selection;
  const { entry, previous } = event;
  if (namespace !== undefined && namespace !== entry.namespace) return undefined;
  if (name !== undefined && name !== entry.name) return undefined;
  if (!selection.selective) return event.type;
  const is = event.type !== 'DELETED' && selection.matches(entry);
  const was = previous !== undefined && selection.matches(previous);
  if (is) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}
