import { setMaxListeners } from 'node:events';
import type { Client, ClientConfig } from '@tinkernetes/client';
import { aborted, type RunContext } from '@tinkernetes/component-base';
import { createEventRecorder, trackWrites } from '@tinkernetes/controller';
import {
  createSharedInformerFactory,
  type SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from '@tinkernetes/informers';
import { createInProcessWorkQueues, type WorkQueueFactory } from '@tinkernetes/workqueue';
import type { ControllerManagerFlags } from '../options';
import type { ControllerDefinition } from './context';
import { recordInformers, type RecordedInformers } from './recorded-informers';
import { createServiceAccountClients } from './service-account-client';
import type { SharedKeys } from './shared-keys';

export interface ControllersOptions {
  flags: ControllerManagerFlags;
  context: RunContext;
  config: ClientConfig;
  client: Client;
  chosen: readonly ControllerDefinition[];
  /** Ends all controllers. */
  signal: AbortSignal;
  /** Replicas work on the same keys; without it this is the only one that works. */
  sharing?: SharedKeys;
}

export interface StartedControllers {
  readonly informers: SharedInformerFactory;
  /** Resolves when all caches are filled. */
  filled(): Promise<void>;
  /** This replica is the leader: what only the leader does begins. */
  lead(): void;
  /** Resolves when all have ended after the signal; rejects with the first error that ends one. */
  readonly ended: Promise<void>;
}

interface Running {
  definition: ControllerDefinition;
  caches: RecordedInformers;
  run(): Promise<void>;
}

/** Starts all chosen controllers on shared caches, each as soon as its own are filled. */
export function startControllers(options: ControllersOptions): StartedControllers {
  const { flags, context, config, client, chosen, signal, sharing } = options;
  const { clock, random, logger, metrics } = context;
  // Every controller and every running key listens for the end.
  setMaxListeners(0, signal);
  const cachesOptions = { client, clock, random, logger, signal, around: sharing?.around };
  const informers = createSharedInformerFactory(cachesOptions);
  const ownQueues = createInProcessWorkQueues({ clock, metrics });
  const accounts = flags['use-service-account-credentials']
    ? createServiceAccountClients({ manager: client, config, clock, metrics, loopback: context.loopback })
    : undefined;
  const leading = promiseOf<void>();
  const running = chosen.flatMap((definition) => {
    const queues = definition.leaderOnly ? ownQueues : (sharing?.queues ?? ownQueues);
    const account = definition.serviceAccount ?? definition.name;
    const identity = definition.actsAsManager ? client : (accounts?.for(account) ?? client);
    return startController(definition, { ...options, informers, cachesOptions, queues, identity });
  });
  const isRunning = metrics.gauge(
    'running_managed_controllers',
    'Indicates where instances of a controller are currently running',
    ['manager', 'name'],
  );
  for (const { definition } of running)
    isRunning.set(1, { manager: 'kube-controller-manager', name: definition.name });
  informers.start();
  const runAll = async () => {
    await Promise.all(
      running.map(async ({ run, caches, definition }) => {
        await caches.filled(signal);
        if (definition.leaderOnly) await Promise.race([leading.promise, aborted(signal)]);
        await run();
      }),
    );
    await Promise.all([informers.stopped(), ownQueues.close(), sharing?.queues.close()]);
    accounts?.close();
  };
  if (!sharing) leading.resolve();
  return {
    informers,
    filled: () => informers.waitForSync(),
    lead: () => leading.resolve(),
    ended: runAll(),
  };
}

interface StartOptions extends ControllersOptions {
  informers: SharedInformerFactory;
  cachesOptions: SharedInformerFactoryOptions;
  queues: WorkQueueFactory;
  identity: Client;
}

function startController(
  definition: ControllerDefinition,
  { flags, client, context, signal, informers, cachesOptions, queues, identity }: StartOptions,
): Running[] {
  const { clock, random, logger, metrics, tracer } = context;
  const caches = recordInformers(informers, { client, clock });
  const controller = definition.start?.({
    informers: caches.factory,
    ownInformers: (until) => caches.record(createSharedInformerFactory({ ...cachesOptions, signal: until })),
    caughtUp: caches.caughtUp,
    caughtUpWithServer: caches.caughtUpWithServer,
    client: trackWrites(identity),
    recorder: createEventRecorder({
      client: identity,
      component: definition.eventSource ?? definition.name,
      clock,
      logger,
      signal,
    }),
    queues,
    clock,
    random,
    logger: logger.child({ controller: definition.name }),
    metrics,
    tracer,
    signal,
    flags,
  });
  return controller ? [{ definition, caches, run: () => controller.run() }] : [];
}

function promiseOf<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
