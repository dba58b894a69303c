import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import type { KubeObject } from '@tinkernetes/api';
import { createClient, loadKubeconfig, type Client, type ClientConfig } from '@tinkernetes/client';
import {
  serveHealth,
  type Clock,
  type HealthServer,
  type Run,
  type RunContext,
} from '@tinkernetes/component-base';
import {
  createCacheBarrier,
  createEventRecorder,
  runLeaderElection,
  trackWrites,
  type CaughtUp,
  type EventRecorder,
} from '@tinkernetes/controller';
import {
  createSharedInformerFactory,
  type SharedInformer,
  type SharedInformerFactory,
} from '@tinkernetes/informers';
import {
  createBullWorkQueues,
  createInProcessWorkQueues,
  type WorkQueueFactory,
} from '@tinkernetes/workqueue';
import type { ControllerDefinition } from './manager/context';
import { controllers } from './manager/controllers';
import { selectControllers } from './manager/select-controllers';
import { createServiceAccountClients } from './manager/service-account-client';
import type { ControllerManagerOptions } from './options';

export const run: Run<ControllerManagerOptions> = async (options, context) => {
  const chosen = selectControllers(options.flags.controllers, controllers);
  const config: ClientConfig = {
    ...(await loadKubeconfig(options.kubeconfig, { userAgent: 'kube-controller-manager' })),
    traces: true,
  };
  const client = createClient(config, { clock: context.clock });
  context.tracer.exportTo((steps) =>
    client.request({ method: 'POST', path: '/debug/tinkernetes/spans', body: steps }),
  );
  const health = await startHealthServer(options, context);
  try {
    if (!options.flags['leader-elect']) {
      await runControllers({ options, context, config, client, chosen, signal: context.signal });
      return;
    }
    await runLeaderElection({
      client,
      clock: context.clock,
      random: context.random,
      logger: context.logger,
      signal: context.signal,
      lease: { name: 'kube-controller-manager', namespace: 'kube-system' },
      identity: `${hostname()}_${context.random.uid()}`,
      leaseDurationMs: options.flags['leader-elect-lease-duration'],
      renewDeadlineMs: options.flags['leader-elect-renew-deadline'],
      retryPeriodMs: options.flags['leader-elect-retry-period'],
      lead: (signal) => runControllers({ options, context, config, client, chosen, signal }),
    });
  } finally {
    client.close();
    await health?.stopped;
  }
};

/** The shared factory, which remembers what one controller asks it for: its own writes are waited for in those caches. */
function recordInformers(shared: SharedInformerFactory): {
  factory: SharedInformerFactory;
  barrier(clock: Clock): CaughtUp;
  /** Resolves when the caches that this controller reads are filled; others' may still be filling. */
  filled(signal: AbortSignal): Promise<void>;
} {
  const used = new Set<SharedInformer<KubeObject>>();
  let barrier: CaughtUp | undefined;
  return {
    factory: {
      for(descriptor, options) {
        const informer = shared.for(descriptor, options);
        used.add(informer as unknown as SharedInformer<KubeObject>);
        return informer;
      },
      start: () => shared.start(),
      waitForSync: () => shared.waitForSync(),
      stopped: () => shared.stopped(),
    },
    barrier: (clock) => (barrier ??= createCacheBarrier([...used], clock)),
    filled: async (signal) => {
      await Promise.all([...used].map((informer) => informer.waitForSync(signal)));
    },
  };
}

/** `/healthz`, `/livez`, `/readyz` and `/metrics`; a replica that waits to lead is healthy too. */
async function startHealthServer(
  { flags }: ControllerManagerOptions,
  { metrics, signal }: RunContext,
): Promise<HealthServer | undefined> {
  if (flags['secure-port'] === 0) return undefined;
  return serveHealth({ bindAddress: flags['bind-address'], port: flags['secure-port'], metrics, signal });
}

/** With BullMQ, keys and their back-offs outlive the process: the next leader goes on with them. */
async function createQueues(
  { flags }: ControllerManagerOptions,
  { clock, metrics, random, logger }: RunContext,
): Promise<WorkQueueFactory> {
  if (flags['work-queue'] !== 'bullmq') return createInProcessWorkQueues({ clock, metrics });
  return createBullWorkQueues({ url: flags.redis ?? '', clock, metrics, random, logger });
}

interface RunOptions {
  options: ControllerManagerOptions;
  context: RunContext;
  config: ClientConfig;
  client: Client;
  chosen: readonly ControllerDefinition[];
  signal: AbortSignal;
}

/** Starts all chosen controllers on shared caches; resolves when all have ended after the signal. */
async function runControllers({
  options,
  context,
  config,
  client,
  chosen,
  signal,
}: RunOptions): Promise<void> {
  const { clock, random, logger, metrics, tracer } = context;
  // Every controller and every running key listens for the end.
  setMaxListeners(0, signal);
  const informers = createSharedInformerFactory({ client, clock, random, logger, signal });
  const queues = await createQueues(options, context);
  const accounts = options.flags['use-service-account-credentials']
    ? createServiceAccountClients({ manager: client, config, clock })
    : undefined;
  const recorders: EventRecorder[] = [];
  const running = chosen.flatMap((definition) => {
    const account = definition.serviceAccount ?? definition.name;
    const own = accounts?.for(account) ?? client;
    const recorder = createEventRecorder({ client: own, component: account, clock, logger, signal });
    recorders.push(recorder);
    const caches = recordInformers(informers);
    const controller = definition.start?.({
      informers: caches.factory,
      caughtUp: (wrote, ended) => caches.barrier(clock)(wrote, ended),
      client: trackWrites(own),
      recorder,
      queues,
      clock,
      random,
      logger: logger.child({ controller: definition.name }),
      metrics,
      tracer,
      signal,
      flags: options.flags,
    });
    return controller ? [{ run: () => controller.run(), caches }] : [];
  });
  informers.start();
  // Nodes can join before the last cache is filled: each controller waits for its own only.
  const ended = Promise.all(
    running.map(async ({ run: work, caches }) => {
      await caches.filled(signal);
      await work();
    }),
  );
  await Promise.race([informers.waitForSync(), ended]);
  context.ready({ controllers: chosen.map((c) => c.name) });
  logger.info({ controllers: chosen.length }, 'all caches are filled');
  await ended;
  await Promise.all([informers.stopped(), queues.close()]);
  accounts?.close();
}
