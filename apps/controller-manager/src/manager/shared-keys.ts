import { groupResourceOf, isInsideRun } from '@tinkernetes/controller';
import type { Clock } from '@tinkernetes/component-base';
import type { AroundNotification, Change } from '@tinkernetes/informers';
import type { WorkQueueFactory } from '@tinkernetes/workqueue';
import { GatedQueue } from './gated-queue';

export interface SharedKeysOptions {
  /** Shared by all replicas. */
  queues: WorkQueueFactory;
  clock: Clock;
}

/**
 * Lets several replicas work on the same keys. Each has all caches and takes keys from the shared queues, but only the
 * leader's informers and timers put keys in, with the version that a worker elsewhere must have seen. What a worker adds
 * while it works on a key goes in from everywhere.
 */
export class SharedKeys {
  readonly queues: WorkQueueFactory;
  private readonly gated: GatedQueue[] = [];
  private isLeading = false;
  /** What an informer is telling its handlers just now. */
  private change: Change | undefined;

  constructor({ queues, clock }: SharedKeysOptions) {
    const gate = { clock, mayAdd: () => this.isLeading || isInsideRun(), seen: () => this.seen() };
    this.queues = {
      create: (name) => {
        const queue = new GatedQueue(queues.create(name), gate);
        this.gated.push(queue);
        return queue;
      },
      close: () => queues.close(),
    };
  }

  /** For the informers whose handlers add keys. */
  readonly around: AroundNotification = (change, notify) => {
    this.change = change;
    try {
      notify();
    } finally {
      this.change = undefined;
    }
  };

  /** From now on this replica puts keys in; first those that it saw while perhaps nobody led. */
  lead(): void {
    this.isLeading = true;
    for (const queue of this.gated) queue.open();
  }

  private seen(): string | undefined {
    if (!this.change || !/^\d+$/.test(this.change.resourceVersion)) return undefined;
    return `${groupResourceOf(this.change.descriptor)}=${this.change.resourceVersion}`;
  }
}
