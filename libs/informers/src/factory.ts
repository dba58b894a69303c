import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { Clock, Logger, Random } from '@tinkernetes/component-base';
import { createGate } from './gate';
import { createTexts } from './share-texts';
import { Informer } from './shared-informer';
import type { AroundNotification, InformerOptions, SharedInformer, SharedInformerFactory } from './types';

export interface SharedInformerFactoryOptions {
  client: Client;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Ends all informers. */
  signal: AbortSignal;
  /** Deep-freezes cached objects. Default: under Jest only. */
  freeze?: boolean;
  around?: AroundNotification;
}

/**
 * A factory with dozens of informers would occupy the server with lists, each on a connection of its own, in the moment
 * in which others want an answer too.
 */
const concurrentLists = 4;

export function createSharedInformerFactory(options: SharedInformerFactoryOptions): SharedInformerFactory {
  const { client, clock, random, logger, signal, around } = options;
  const freeze = options.freeze ?? process.env.NODE_ENV === 'test';
  const lists = createGate(concurrentLists);
  const texts = createTexts();
  const informers = new Map<string, { informer: SharedInformer<KubeObject>; run(): Promise<void> }>();
  const running = new Map<string, Promise<void>>();
  return {
    for<T extends KubeObject>(
      descriptor: ResourceDescriptor<T>,
      scope: InformerOptions = {},
    ): SharedInformer<T> {
      const key = keyOfInformer(descriptor, scope);
      const known = informers.get(key);
      if (known) return known.informer as unknown as SharedInformer<T>;
      const informer = new Informer(client.for(descriptor), scope, {
        clock,
        random,
        logger,
        signal,
        freeze,
        lists,
        texts,
        around,
      });
      informers.set(key, {
        informer: informer as unknown as SharedInformer<KubeObject>,
        run: () => informer.run(),
      });
      return informer;
    },
    has: (descriptor) => informers.has(keyOfInformer(descriptor, {})),
    start() {
      for (const [key, { run }] of informers) {
        if (!running.has(key)) running.set(key, run());
      }
    },
    async waitForSync() {
      await Promise.all([...informers.values()].map(({ informer }) => informer.waitForSync(signal)));
    },
    async replay() {
      for (const { informer } of informers.values()) await informer.replay();
    },
    async stopped() {
      await Promise.all(running.values());
    },
  };
}

function keyOfInformer(descriptor: ResourceDescriptor<unknown>, scope: InformerOptions): string {
  const { group, version, resource } = descriptor;
  const { namespace, labelSelector, fieldSelector, metadataOnly = false } = scope;
  return [group, version, resource, namespace, labelSelector, fieldSelector, metadataOnly].join('|');
}
