import type { Event } from '@tinkernetes/api';
import { createHash } from 'node:crypto';
import { formatTime, LruMap, type Clock } from '@tinkernetes/component-base';

const cacheSize = 4096;
/** Events that differ only in their message are combined from the tenth within ten minutes on. */
const maxSimilar = 10;
const similarWithinMs = 600_000;
/** A source may send 25 events about an object at once, then one every five minutes. */
const spamBurst = 25;
const spamRefillPerMs = 1 / 300_000;

/** What to send: a new event, or a higher count of one that was sent before. */
export type Correlated =
  { kind: 'create'; event: Event; key: string } | { kind: 'patch'; event: Event; key: string };

interface Bucket {
  tokens: number;
  at: number;
}
interface Similar {
  /** Their digests, each once. */
  messages: string[];
  at: number;
}
interface Sent {
  name: string;
  count: number;
  firstTimestamp: string;
}

/** Thousands are remembered, and what they are made of is long. */
const digestOf = (text: string): string => createHash('md5').update(text).digest().toString('latin1');

/**
 * Keeps the number of Event objects small: drops floods, combines similar events, counts equal ones up.
 * Source: k8s.io/client-go/tools/record EventCorrelator.
 */
export class EventCorrelator {
  private readonly similar = new LruMap<string, Similar>(cacheSize);
  private readonly sent = new LruMap<string, Sent>(cacheSize);
  private readonly buckets = new LruMap<string, Bucket>(cacheSize);

  constructor(private readonly clock: Clock) {}

  /** Undefined: to be dropped. */
  correlate(event: Event): Correlated | undefined {
    const { event: combined, key } = this.aggregate(event);
    const last = this.sent.get(key);
    const counted: Event = last
      ? {
          ...combined,
          metadata: { ...combined.metadata, name: last.name },
          count: last.count + 1,
          firstTimestamp: last.firstTimestamp,
        }
      : combined;
    this.remember(key, counted);
    if (this.isSpam(counted)) return undefined;
    return { kind: last ? 'patch' : 'create', event: counted, key };
  }

  remember(key: string, event: Event): void {
    this.sent.set(key, {
      name: event.metadata.name,
      count: event.count ?? 1,
      firstTimestamp: event.firstTimestamp ?? formatTime(this.clock.now()),
    });
  }

  private aggregate(event: Event): { event: Event; key: string } {
    const now = this.clock.now();
    const key = aggregateKeyOf(event);
    const found = this.similar.get(key);
    const record = found && now - found.at <= similarWithinMs ? found : { messages: [], at: now };
    const message = digestOf(event.message ?? '');
    if (!record.messages.includes(message)) record.messages.push(message);
    record.at = now;
    this.similar.set(key, record);
    if (record.messages.length < maxSimilar) return { event, key: equalKeyOf(event) };
    // They need not become more to stay over the limit.
    record.messages.shift();
    return { event: { ...event, message: `(combined from similar events): ${event.message}` }, key };
  }

  private isSpam(event: Event): boolean {
    const key = objectKeyOf(event);
    const now = this.clock.monotonic();
    const bucket = this.buckets.get(key) ?? { tokens: spamBurst, at: now };
    const tokens = Math.min(spamBurst, bucket.tokens + (now - bucket.at) * spamRefillPerMs);
    this.buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    return tokens < 1;
  }
}

const textOf = ({ source, involvedObject: o }: Event): string =>
  [source?.component, source?.host, o.kind, o.namespace, o.name, o.uid, o.apiVersion].join('|');

function objectKeyOf(event: Event): string {
  return digestOf(textOf(event));
}

function aggregateKeyOf(event: Event): string {
  const { type, reason, reportingComponent, reportingInstance } = event;
  return digestOf([textOf(event), type, reason, reportingComponent, reportingInstance].join('|'));
}

function equalKeyOf(event: Event): string {
  const { involvedObject, type, reason, message } = event;
  return digestOf([textOf(event), involvedObject.fieldPath, type, reason, message].join('|'));
}
