import { createHash } from 'node:crypto';
import { Events, type Event, type KubeObject } from '@tinkernetes/api';
import { isAlreadyExists, isNotFound, StatusError } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { formatTime, type Clock, type Logger } from '@tinkernetes/component-base';
import { EventCorrelator, type Correlated } from './event-correlator';
import { TokenBucket } from './token-bucket';
import type { EventOptions, EventRecorder, EventType } from './types';

export interface EventRecorderOptions {
  client: Client;
  /** `source.component` and `reportingComponent`: `kubelet`, `deployment-controller`, `default-scheduler`. */
  component: string;
  /** `source.host` and `reportingInstance`: the node, for node components. */
  host?: string;
  clock: Clock;
  logger: Logger;
  /** Events that are not sent when it aborts are dropped. */
  signal?: AbortSignal;
  /** At most `burst` at once and `qps` a second in the long run; left out: no limit. */
  rate?: EventRate;
}

export interface EventRate {
  qps: number;
  burst: number;
}

/** client-go's sink tries so often, ten seconds apart, while the server can't be reached. */
const maxTries = 12;
const retryMs = 10_000;
/** More events than this waiting means the server is away; the newest are dropped, as upstream's full channel does. */
const maxWaiting = 1000;

/** Where in a millisecond a component's events begin. */
const offsetOf = (component: string): bigint =>
  BigInt(createHash('sha256').update(component).digest().readUInt32BE(0) % 900_000);

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { component, host = '', clock, logger } = options;
  const sender = new EventSender(options);
  let lastNanos = 0n;
  const offset = offsetOf(`${component}/${host}`);
  /** Names are made of the time in nanoseconds; two events of one millisecond must differ, also of two components. */
  const uniqueNanos = (): bigint => {
    const now = BigInt(Math.trunc(clock.now())) * 1_000_000n + offset;
    lastNanos = now > lastNanos ? now : lastNanos + 1n;
    return lastNanos;
  };
  return {
    event(object: KubeObject, type: EventType, reason: string, message: string, extra: EventOptions = {}) {
      const { name, namespace, uid, resourceVersion } = object.metadata;
      const now = formatTime(clock.now());
      logger.debug({ object: `${object.kind}/${namespace ?? ''}/${name}`, type, reason }, message);
      sender.send({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: {
          name: `${name}.${uniqueNanos().toString(16)}`,
          namespace: namespace ?? 'default',
          ...(extra.annotations ? { annotations: extra.annotations } : {}),
        },
        involvedObject: {
          kind: object.kind,
          apiVersion: object.apiVersion,
          namespace,
          name,
          uid,
          resourceVersion,
          fieldPath: extra.fieldPath,
        },
        reason,
        message,
        source: { component, ...(host ? { host } : {}) },
        reportingComponent: component,
        reportingInstance: host,
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
        type,
      });
    },
    flush: () => sender.flush(),
  };
}

/** Sends events one after the other, so that counts arrive in order. */
class EventSender {
  private readonly correlator: EventCorrelator;
  private readonly events;
  private tail: Promise<void> = Promise.resolve();
  private waiting = 0;
  private readonly bucket: TokenBucket | undefined;

  constructor(private readonly options: EventRecorderOptions) {
    this.bucket = options.rate && new TokenBucket(options.clock, options.rate);
    this.correlator = new EventCorrelator(options.clock);
    this.events = options.client.for(Events);
  }

  send(event: Event): void {
    if (this.waiting >= maxWaiting) {
      this.options.logger.warn({ reason: event.reason }, 'too many events wait to be sent, dropping one');
      return;
    }
    this.waiting++;
    this.tail = this.tail.then(async () => {
      this.waiting--;
      const correlated = this.correlator.correlate(event);
      if (!correlated) return;
      await this.turn();
      await this.deliver(correlated);
    });
  }

  flush(): Promise<void> {
    return this.tail;
  }

  private async turn(): Promise<void> {
    const { clock, logger, signal } = this.options;
    const waitMs = this.bucket?.take() ?? 0;
    if (waitMs > 0)
      await clock.sleep(waitMs, signal).catch(() => logger.debug({}, 'stopped while an event waited'));
  }

  private async deliver(correlated: Correlated): Promise<void> {
    const { logger, clock, signal } = this.options;
    for (let attempt = 1; !signal?.aborted; attempt++) {
      try {
        return await this.write(correlated);
      } catch (error) {
        if (signal?.aborted) return;
        const rejected = error instanceof StatusError && error.code < 500 && error.code !== 429;
        if (rejected || attempt >= maxTries) {
          logger.warn({ err: error, reason: correlated.event.reason }, 'event not recorded');
          return;
        }
        await clock.sleep(retryMs, signal).catch(() => logger.debug({}, 'stopped while an event waited'));
      }
    }
  }

  private async write({ kind, event, key }: Correlated): Promise<void> {
    const { signal } = this.options;
    if (kind === 'patch') {
      const { name, namespace } = event.metadata;
      const { count, lastTimestamp, message } = event;
      const patch = { count, lastTimestamp, message };
      try {
        await this.events.patch(name, patch, { type: 'strategic', namespace, signal });
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    // An event that has expired on the server is written anew, with the count it has reached.
    const created = await this.events.create(event, { signal }).catch((error: unknown) => {
      if (isAlreadyExists(error)) return event;
      throw error;
    });
    this.correlator.remember(key, created);
  }
}
