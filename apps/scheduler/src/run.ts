import { setMaxListeners } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { createClient, loadKubeconfig, type Client } from '@tinkernetes/client';
import { serveHealth, UsageError, type Run, type RunContext } from '@tinkernetes/component-base';
import { createEventRecorder, runLeaderElection } from '@tinkernetes/controller';
import { createSharedInformerFactory } from '@tinkernetes/informers';
import { configurationText, effectiveConfiguration } from './config/effective-configuration';
import type { SchedulerConfiguration } from './config/types';
import type { Extender } from './extenders/extender';
import { createExtenders } from './extenders/http-extender';
import type { SchedulerOptions } from './options';
import { createScheduler } from './scheduler/create-scheduler';
import { serveDebug } from './scheduler/debug-server';
import { flushSteps } from './scheduler/flush-steps';

export const run: Run<SchedulerOptions> = async (options, context) => {
  const { flags } = options;
  const loaded = await effectiveConfiguration(flags);
  const configuration = loaded.scheduler;
  if (flags['write-config-to']) {
    await writeFile(flags['write-config-to'], await configurationText(loaded));
    return;
  }
  const extenders = await createExtenders(configuration.extenders);
  const kubeconfig = loaded.kubeconfig ?? options.kubeconfig;
  if (!kubeconfig) throw new UsageError('--kubeconfig is needed: the file that `npm start` wrote will do');
  const config = await loadKubeconfig(kubeconfig, { userAgent: 'kube-scheduler' });
  const server = flags.master ?? config.server;
  const client = createClient(
    { ...config, server, traces: true },
    { clock: context.clock, metrics: context.metrics, loopback: context.loopback },
  );
  const stopFlushing = flushSteps(client, context);
  const health = await serveEndpoints(options, context);
  try {
    if (!(loaded.leaderElect ?? flags['leader-elect'])) {
      await schedule({ options, configuration, extenders, client, context, signal: context.signal });
      return;
    }
    // A candidate that waits for its turn is as ready as it can be.
    context.ready();
    await runLeaderElection({
      client,
      clock: context.clock,
      random: context.random,
      logger: context.logger,
      signal: context.signal,
      lease: {
        name: loaded.leaseName ?? flags['leader-elect-resource-name'],
        namespace: loaded.leaseNamespace ?? flags['leader-elect-resource-namespace'],
      },
      identity: `${hostname()}_${context.random.uid()}`,
      leaseDurationMs: loaded.leaseDurationMs ?? flags['leader-elect-lease-duration'],
      renewDeadlineMs: loaded.renewDeadlineMs ?? flags['leader-elect-renew-deadline'],
      retryPeriodMs: loaded.retryPeriodMs ?? flags['leader-elect-retry-period'],
      recorder: createEventRecorder({
        client,
        component: configuration.profiles[0]?.schedulerName ?? 'default-scheduler',
        clock: context.clock,
        logger: context.logger,
        signal: context.signal,
      }),
      lead: (signal) => schedule({ options, configuration, extenders, client, context, signal }),
    });
  } finally {
    await stopFlushing();
    client.close();
    // One that has lost its leadership ends, too, and nobody has told it to.
    await health?.stop();
  }
};

interface ScheduleOptions {
  options: SchedulerOptions;
  configuration: SchedulerConfiguration;
  extenders: readonly Extender[];
  client: Client;
  context: RunContext;
  signal: AbortSignal;
}

/** Schedules until the signal aborts; resolves when nothing is left running. */
async function schedule({
  options,
  configuration,
  extenders,
  client,
  context,
  signal,
}: ScheduleOptions): Promise<void> {
  const { clock, random, logger } = context;
  // Each of many bindings under way listens to it.
  setMaxListeners(0, signal);
  const informers = createSharedInformerFactory({ client, clock, random, logger, signal });
  const { scheduler, queue, cache, attempts } = createScheduler({
    configuration,
    extenders,
    client,
    informers,
    context,
    signal,
  });
  const stop = () => queue.close();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  informers.start();
  await informers.waitForSync();
  const debugPort = options.flags['debug-port'];
  const info =
    debugPort === undefined
      ? {}
      : { debugPort: await serveDebug(debugPort, { attempts, queue, cache }, signal) };
  if (signal === context.signal) context.ready(info);
  logger.info(
    { profiles: configuration.profiles.map((p) => p.schedulerName) },
    'all caches are filled, scheduling starts',
  );
  await scheduler.run();
  await informers.stopped();
}

async function serveEndpoints({ flags }: SchedulerOptions, { metrics, signal, logger }: RunContext) {
  const port = flags['secure-port'];
  if (port === 0 && !flags['bind-address'].startsWith('unix:')) return undefined;
  const [certFile, keyFile] = [flags['tls-cert-file'], flags['tls-private-key-file']];
  const tls =
    certFile && keyFile
      ? { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
      : undefined;
  const server = await serveHealth({ bindAddress: flags['bind-address'], port, tls, metrics, signal });
  logger.info({ port: server.port }, 'serving health and metrics');
  return server;
}
