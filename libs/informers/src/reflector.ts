import type { KubeObject, Status } from '@tinkernetes/api';
import { isExpired, isTooManyRequests, StatusError } from '@tinkernetes/apimachinery';
import type { ResourceClient, WatchEvent } from '@tinkernetes/client';
import { isTurnLong, letOthersRun, type Clock, type Logger, type Random } from '@tinkernetes/component-base';
import { Backoff } from './backoff';
import type { Gate } from './gate';
import { StreamUnsupported, takeInitialEvents } from './initial-events';
import type { InformerOptions } from './types';

/** What a reflector keeps up to date. */
export interface ReflectorSink<T> {
  /** The full state, at `resourceVersion`. May take several turns of the event loop. */
  replace(objects: readonly T[], resourceVersion: string): Promise<void>;
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Progress without a change of any object. */
  bookmark(resourceVersion: string): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  resource: ResourceClient<T>;
  scope: InformerOptions;
  sink: ReflectorSink<T>;
  clock: Clock;
  random: Random;
  logger: Logger;
  signal: AbortSignal;
  /** Lists take turns in it. */
  lists: Gate;
}

/** A watch is asked to end after 5 to 10 minutes, so that reconnects of many clients spread and dead ones are found. */
const minWatchTimeoutSeconds = 300;
/** client-go: a watch that ended sooner than this without an event counts as failed, or it would be retried at once for ever. */
const minWatchDurationMs = 1000;

/**
 * Keeps a sink equal to a resource on the server: takes what is there and what happens from one watch, resumes a dropped
 * watch where it stopped, and takes everything again only when the server no longer has that version. What is there comes
 * as events: each is decoded by itself, where a list of thousands of objects would occupy the event loop at once. Servers
 * that don't offer that are listed, then watched.
 * Source: k8s.io/client-go/tools/cache Reflector; https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export class Reflector<T extends KubeObject> {
  private resourceVersion = '';
  /** The server refused our resourceVersion: list the newest state, whatever the cache has. */
  private expired = false;
  /** As far as is known the server sends what is there in a watch. */
  private streams = true;
  private readonly backoff: Backoff;

  constructor(private readonly options: ReflectorOptions<T>) {
    this.backoff = new Backoff(options.clock, options.random);
  }

  get lastSyncResourceVersion(): string {
    return this.resourceVersion;
  }

  /** Until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.options;
    while (!signal.aborted) {
      try {
        const open = await this.options.lists(() => this.fill());
        await this.watchUntilRelist(open);
      } catch (error) {
        if (signal.aborted) return;
        this.options.logger.warn(
          { err: error, resource: this.options.resource.descriptor.resource },
          'list-watch failed, trying again',
        );
        await this.pause();
      }
    }
  }

  /** Gives the sink what is there. Returns the watch that goes on from there, if one is open. */
  private async fill(): Promise<AsyncIterable<WatchEvent<T>> | undefined> {
    try {
      return this.streams ? await this.stream() : await this.list();
    } catch (error) {
      if (isExpired(error)) this.expired = true;
      throw error;
    }
  }

  private async stream(): Promise<AsyncIterable<WatchEvent<T>> | undefined> {
    const { clock, signal } = this.options;
    try {
      return await takeInitialEvents<T>({
        openWatch: (ends) => this.openWatch(this.startVersion, { sendInitialEvents: true, signal: ends }),
        take: ({ objects, resourceVersion }) => this.filled(objects, resourceVersion),
        clock,
        signal,
      });
    } catch (error) {
      if (!(error instanceof StreamUnsupported)) throw error;
      this.streams = false;
      return this.list();
    }
  }

  private async list(): Promise<undefined> {
    const { resource, scope, signal } = this.options;
    const list = await resource.list({ ...scope, signal, resourceVersion: this.startVersion });
    await this.filled(list.items, list.metadata.resourceVersion ?? '');
  }

  /** '0' lets the server answer from its cache at any age; later states must not go back behind what was seen. */
  private get startVersion(): string | undefined {
    return this.expired ? undefined : this.resourceVersion || '0';
  }

  private async filled(objects: readonly T[], resourceVersion: string): Promise<void> {
    this.expired = false;
    this.resourceVersion = resourceVersion;
    await this.options.sink.replace(objects, resourceVersion);
  }

  /** Begins with `open`. Returns when a new list is needed; throws what a watch can't be resumed after. */
  private async watchUntilRelist(open: AsyncIterable<WatchEvent<T>> | undefined): Promise<void> {
    const { signal, clock, logger } = this.options;
    for (let watch = open; !signal.aborted; watch = undefined) {
      const startedAt = clock.monotonic();
      let events = 0;
      try {
        for await (const event of watch ?? this.openWatch(this.resourceVersion)) {
          events++;
          this.handle(event);
          if (isTurnLong()) await letOthersRun();
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isExpired(error)) {
          logger.debug({ resourceVersion: this.resourceVersion }, 'resourceVersion too old, listing again');
          this.expired = true;
          return;
        }
        if (error instanceof StatusError && !isTooManyRequests(error)) throw error;
        // The connection failed or broke; the state we have is still good, so the watch goes on from there.
        logger.debug({ err: error }, 'watch broke, resuming');
        if (events === 0) await this.pause();
        continue;
      }
      if (signal.aborted) return;
      if (events === 0 && clock.monotonic() - startedAt < minWatchDurationMs) await this.pause();
    }
  }

  private openWatch(
    resourceVersion: string | undefined,
    { sendInitialEvents = false, signal = this.options.signal } = {},
  ): AsyncIterable<WatchEvent<T>> {
    const { resource, scope, random } = this.options;
    return resource.watch({
      ...scope,
      signal,
      resourceVersion,
      sendInitialEvents,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.floor(minWatchTimeoutSeconds * (1 + random.next())),
    });
  }

  private handle(event: WatchEvent<T>): void {
    const { sink } = this.options;
    if (event.type === 'ERROR') throw StatusError.fromStatus(event.object as Status);
    this.resourceVersion = event.object.metadata.resourceVersion ?? this.resourceVersion;
    if (event.type === 'BOOKMARK') sink.bookmark(this.resourceVersion);
    else sink.apply(event.type, event.object);
  }

  private async pause(): Promise<void> {
    const { clock, signal } = this.options;
    await clock.sleep(this.backoff.next(), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
