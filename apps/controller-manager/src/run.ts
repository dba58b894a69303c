import { hostname } from 'node:os';
import { createClient, loadKubeconfig, type ClientConfig } from '@tinkernetes/client';
import { serveHealth, type HealthServer, type Run, type RunContext } from '@tinkernetes/component-base';
import { createEventRecorder, runLeaderElection } from '@tinkernetes/controller';
import { controllers } from './manager/controllers';
import { runReplica } from './manager/replica';
import { selectControllers } from './manager/select-controllers';
import { startControllers } from './manager/start-controllers';
import type { ControllerManagerOptions } from './options';

export const run: Run<ControllerManagerOptions> = async ({ flags, kubeconfig }, context) => {
  const chosen = selectControllers(flags.controllers, controllers);
  const config: ClientConfig = {
    ...(await loadKubeconfig(kubeconfig, { userAgent: 'kube-controller-manager' })),
    traces: true,
  };
  const client = createClient(config, {
    clock: context.clock,
    metrics: context.metrics,
    loopback: context.loopback,
  });
  context.tracer.exportTo((steps) =>
    client.request({ method: 'POST', path: '/debug/tinkernetes/spans', body: steps }),
  );
  const { clock, random, logger, signal } = context;
  const manager = { flags, context, config, client, chosen };
  const isMaster = context.metrics.gauge(
    'leader_election_master_status',
    'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.',
    ['name'],
  );
  const elect = (lead: (signal: AbortSignal) => Promise<void>) =>
    runLeaderElection({
      ...{ client, clock, random, logger, signal, lead },
      recorder: createEventRecorder({
        ...{ client, clock, logger, signal },
        component: 'kube-controller-manager',
      }),
      onStatus: (isLeader) => isMaster.set(isLeader ? 1 : 0, { name: 'kube-controller-manager' }),
      lease: {
        name: flags['leader-elect-resource-name'],
        namespace: flags['leader-elect-resource-namespace'],
      },
      identity: `${hostname()}_${random.uid()}`,
      leaseDurationMs: flags['leader-elect-lease-duration'],
      renewDeadlineMs: flags['leader-elect-renew-deadline'],
      retryPeriodMs: flags['leader-elect-retry-period'],
    });
  /** Works alone for as long as the signal lasts. */
  const work = async (until: AbortSignal) => {
    const { filled, ended } = startControllers({ ...manager, signal: until });
    await Promise.race([filled(), ended]);
    context.ready({ controllers: chosen.map((c) => c.name) });
    logger.info({ controllers: chosen.length }, 'all caches are filled');
    await ended;
  };
  const health = await startHealthServer(flags, context);
  try {
    const isElected = flags['leader-elect'];
    if (flags['work-queue'] === 'bullmq')
      await runReplica(manager, isElected ? elect : (lead) => lead(signal));
    else if (isElected) await elect(work);
    else await work(signal);
  } finally {
    client.close();
    // One that has lost its leadership ends, too, and nobody has told it to.
    await health?.stop();
  }
};

/** `/healthz`, `/livez`, `/readyz` and `/metrics`; a replica that waits to lead is healthy too. */
async function startHealthServer(
  flags: ControllerManagerOptions['flags'],
  { metrics, signal }: RunContext,
): Promise<HealthServer | undefined> {
  if (flags['secure-port'] === 0 && !flags['bind-address'].startsWith('unix:')) return undefined;
  return serveHealth({ bindAddress: flags['bind-address'], port: flags['secure-port'], metrics, signal });
}
