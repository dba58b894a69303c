import type { KubeObject, Status } from '@tinkernetes/api';
import { isExpired, isTooManyRequests, StatusError } from '@tinkernetes/apimachinery';
import type { ResourceClient, WatchEvent } from '@tinkernetes/client';
import { isTurnLong, letOthersRun, type Clock, type Logger, type Random } from '@tinkernetes/component-base';
import { Backoff } from './backoff';
import type { Gate } from './gate';
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
 * Keeps a sink equal to a resource on the server: lists once, then watches from the list's resourceVersion, resumes a
 * dropped watch where it stopped, and lists again only when the server no longer has that version.
 * Source: k8s.io/client-go/tools/cache Reflector; https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export class Reflector<T extends KubeObject> {
  private resourceVersion = '';
  /** The server refused our resourceVersion: list the newest state, whatever the cache has. */
  private expired = false;
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
        await this.options.lists(() => this.list());
        await this.watchUntilRelist();
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

  private async list(): Promise<void> {
    const { resource, scope, sink, signal } = this.options;
    // '0' lets the server answer from its cache at any age; later lists must not go back behind what was seen.
    const resourceVersion = this.expired ? undefined : this.resourceVersion || '0';
    const list = await resource.list({ ...scope, signal, resourceVersion }).catch((error: unknown) => {
      if (isExpired(error)) this.expired = true;
      throw error;
    });
    this.expired = false;
    this.resourceVersion = list.metadata.resourceVersion ?? '';
    await sink.replace(list.items, this.resourceVersion);
  }

  /** Returns when a new list is needed; throws what a watch can't be resumed after. */
  private async watchUntilRelist(): Promise<void> {
    const { signal, clock, logger } = this.options;
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      let events = 0;
      try {
        for await (const event of this.openWatch()) {
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

  private openWatch(): AsyncIterable<WatchEvent<T>> {
    const { resource, scope, random, signal } = this.options;
    return resource.watch({
      ...scope,
      signal,
      resourceVersion: this.resourceVersion,
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
