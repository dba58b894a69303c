import type { KubeObject } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { Clock } from '@tinkernetes/component-base';
import {
  createCacheBarrier,
  createServerBarrier,
  type CaughtUp,
  type CaughtUpWithServer,
} from '@tinkernetes/controller';
import type { SharedInformer, SharedInformerFactory } from '@tinkernetes/informers';

/** What one controller reads. */
export interface RecordedInformers {
  /** The factory that is recorded, for this controller. */
  readonly factory: SharedInformerFactory;
  /** The same for a factory whose caches are this controller's own. */
  record(factory: SharedInformerFactory): SharedInformerFactory;
  /** Waits for the caches asked for so far. */
  readonly caughtUp: CaughtUp;
  readonly caughtUpWithServer: CaughtUpWithServer;
  /** Resolves when the caches that this controller reads are filled; others' may still be filling. */
  filled(signal: AbortSignal): Promise<void>;
}

/** Remembers what one controller asks for: what it must have seen is waited for in those caches. */
export function recordInformers(
  shared: SharedInformerFactory,
  { client, clock }: { client: Client; clock: Clock },
): RecordedInformers {
  const used = new Set<SharedInformer<KubeObject>>();
  const record = (factory: SharedInformerFactory): SharedInformerFactory => ({
    ...factory,
    for(descriptor, options) {
      const informer = factory.for(descriptor, options);
      used.add(informer as unknown as SharedInformer<KubeObject>);
      return informer;
    },
  });
  return {
    factory: record(shared),
    record,
    caughtUp: createCacheBarrier(used, clock),
    caughtUpWithServer: createServerBarrier(used, { client, clock }),
    filled: async (signal) => {
      await Promise.all([...used].map((informer) => informer.waitForSync(signal)));
    },
  };
}
