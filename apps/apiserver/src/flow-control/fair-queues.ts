import { createHash } from 'node:crypto';

/** A request that waits for seats. */
export interface Waiting {
  /** Requests of one flow share queues. */
  readonly flow: string;
  /** How many seats it takes. */
  readonly seats: number;
}

interface Queue<T extends Waiting> {
  readonly waiting: T[];
  /** The virtual time at which its first request is due. */
  due: number;
}

export interface QueuingOptions {
  queues: number;
  /** How many queues a flow may use. */
  handSize: number;
  queueLengthLimit: number;
}

/** How long a request is taken to last until it has shown. */
const expectedMs = 3;

/**
 * Queues that are served fairly: each gets as much time of the level's seats as any other that has requests. A flow is
 * dealt a hand of queues and waits in the shortest, so that one that floods its queues leaves others' hands mostly
 * alone. Source: KEP-1040 (shuffle sharding; fair queuing by virtual time).
 */
export class FairQueues<T extends Waiting> {
  private readonly queues: Queue<T>[];
  /** Advances with the requests that are let through: to what was due then. */
  private now = 0;
  private count = 0;

  constructor(private readonly options: QueuingOptions) {
    this.queues = Array.from({ length: options.queues }, () => ({ waiting: [], due: 0 }));
  }

  get length(): number {
    return this.count;
  }

  /** False: the shortest queue of its hand is full. */
  add(request: T): boolean {
    const queue = shortest(dealHand(request.flow, this.options).map((i) => this.queues[i]));
    if (!queue || queue.waiting.length >= this.options.queueLengthLimit) return false;
    // A queue that was empty has no claim on the time that it did not use.
    if (queue.waiting.length === 0) queue.due = Math.max(queue.due, this.now);
    queue.waiting.push(request);
    this.count++;
    return true;
  }

  /** The request whose turn it is; it stays until it is taken. */
  peek(): T | undefined {
    return this.first()?.waiting[0];
  }

  /** Takes the request whose turn it is. Its queue pays for it, and with `finished` for what it really took. */
  take(): { request: T; finished: (ms: number) => void } | undefined {
    const queue = this.first();
    const request = queue?.waiting.shift();
    if (!queue || !request) return undefined;
    this.count--;
    this.now = queue.due;
    queue.due += request.seats * expectedMs;
    return { request, finished: (ms) => (queue.due += request.seats * (ms - expectedMs)) };
  }

  /** Takes out one that waits no longer. */
  remove(request: T): void {
    for (const { waiting } of this.queues) {
      const at = waiting.indexOf(request);
      if (at < 0) continue;
      waiting.splice(at, 1);
      this.count--;
      return;
    }
  }

  /** All that wait, oldest first in each queue. */
  all(): T[] {
    return this.queues.flatMap(({ waiting }) => waiting);
  }

  private first(): Queue<T> | undefined {
    let first: Queue<T> | undefined;
    for (const queue of this.queues) {
      if (queue.waiting.length > 0 && (!first || queue.due < first.due)) first = queue;
    }
    return first;
  }
}

function shortest<Q extends { waiting: readonly unknown[] }>(
  queues: readonly (Q | undefined)[],
): Q | undefined {
  let best: Q | undefined;
  for (const queue of queues)
    if (queue && (!best || queue.waiting.length < best.waiting.length)) best = queue;
  return best;
}

/** The same different queues for the same flow, each time. */
export function dealHand(flow: string, { queues, handSize }: QueuingOptions): number[] {
  const digest = createHash('sha512').update(flow).digest();
  const deck = Array.from({ length: queues }, (_, i) => i);
  const hand: number[] = [];
  for (let i = 0; i < Math.min(handSize, queues, digest.length / 4); i++) {
    hand.push(...deck.splice(digest.readUInt32BE(i * 4) % deck.length, 1));
  }
  return hand;
}
