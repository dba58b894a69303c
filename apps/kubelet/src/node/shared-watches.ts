import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { linkSignals, type RunContext } from '@tinkernetes/component-base';
import {
  createSharedInformerFactory,
  type InformerOptions,
  type SharedInformer,
} from '@tinkernetes/informers';

/** A node's part in a watch. */
export interface Membership<T extends KubeObject> {
  readonly informer: SharedInformer<T>;
  leave(): void;
}

interface Shared {
  informer: SharedInformer<KubeObject>;
  /** Those who may watch it; the first one's identity is used. */
  members: Set<Client>;
  stop(): void;
}

/**
 * What several nodes of one process watch: one connection and one copy of it for all of them, with the identity of one
 * that may see it. Where that node goes, the watch goes on as another.
 */
export class SharedWatches {
  private readonly shared = new Map<string, Shared>();

  constructor(private readonly context: Pick<RunContext, 'clock' | 'random' | 'logger' | 'signal'>) {}

  join<T extends KubeObject>(
    client: Client,
    descriptor: ResourceDescriptor<T>,
    scope: InformerOptions = {},
  ): Membership<T> {
    const key = JSON.stringify([descriptor.group, descriptor.resource, scope]);
    const entry = this.shared.get(key) ?? this.start(client, descriptor, scope);
    this.shared.set(key, entry);
    // Each membership counts, also several of one node.
    const member = { ...client };
    entry.members.add(member);
    return {
      informer: entry.informer as unknown as SharedInformer<T>,
      leave: () => {
        if (!entry.members.delete(member) || entry.members.size > 0) return;
        entry.stop();
        if (this.shared.get(key) === entry) this.shared.delete(key);
      },
    };
  }

  private start<T extends KubeObject>(
    client: Client,
    descriptor: ResourceDescriptor<T>,
    scope: InformerOptions,
  ): Shared {
    const { clock, random, logger } = this.context;
    const members = new Set<Client>();
    const ended = new AbortController();
    const { signal } = linkSignals(this.context.signal, ended.signal);
    const factory = createSharedInformerFactory({
      client: anyOf(members, client),
      clock,
      random,
      logger,
      signal,
    });
    const informer = factory.for(descriptor, scope) as unknown as SharedInformer<KubeObject>;
    factory.start();
    return { informer, members, stop: () => ended.abort(new Error('nobody watches it any more')) };
  }
}

/** Lists and watches as one of those who are members at that moment. */
function anyOf(members: ReadonlySet<Client>, first: Client): Client {
  const current = (): Client => members.values().next().value ?? first;
  return {
    ...first,
    for: <R extends KubeObject>(descriptor: ResourceDescriptor<R>) => ({
      ...first.for(descriptor),
      list: (options) => current().for(descriptor).list(options),
      watch: (options) => current().for(descriptor).watch(options),
    }),
  };
}
