import { Namespaces } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { aborted, linkSignals, type RunContext } from '@tinkernetes/component-base';
import { createBullWorkQueues } from '@tinkernetes/workqueue';
import { SharedKeys } from './shared-keys';
import { startControllers, type ControllersOptions } from './start-controllers';

/** Calls `lead` while this replica is the leader; rejects when it was and could not stay it. */
export type Elect = (lead: (signal: AbortSignal) => Promise<void>) => Promise<void>;

const retryMs = 1000;

/**
 * One of several managers that share their keys in Redis: it works from the start, and puts keys in while it leads. One
 * that loses its leadership ends, as upstream's do; its keys are others' by then.
 */
export async function runReplica(
  manager: Omit<ControllersOptions, 'signal' | 'sharing'>,
  elect: Elect,
): Promise<void> {
  const { client, flags, context, chosen } = manager;
  const { clock, metrics, random, logger, signal } = context;
  const prefix = await queuePrefix(client, context);
  if (!prefix) return;
  const queues = await createBullWorkQueues({
    ...{ clock, metrics, random, logger, prefix },
    url: flags.redis ?? '',
  });
  const sharing = new SharedKeys({ queues, clock });
  const failed = new AbortController();
  const ending = linkSignals(signal, failed.signal);
  const { informers, filled, lead, ended } = startControllers({ ...manager, signal: ending.signal, sharing });
  const electing = elect(async (leading) => {
    sharing.lead();
    lead();
    // Whatever the last leader may have missed; most of it needs nothing. Caches that are still empty tell of theirs.
    await informers.replay();
    logger.info({ controllers: chosen.length }, 'leading');
    await aborted(leading);
  });
  // One whose leadership is lost ends as a whole.
  electing.catch((error: unknown) => failed.abort(error));
  try {
    if (flags['bull-board-port'])
      await queues.serveBoard({ bindAddress: flags['bind-address'], port: flags['bull-board-port'] });
    await Promise.race([filled(), ended]);
    context.ready({ controllers: chosen.map((c) => c.name) });
    await Promise.all([ended, electing]);
  } finally {
    ending.release();
  }
}

/** Clusters may share a Redis; undefined when the signal aborts before the API server answers. */
async function queuePrefix(
  client: Client,
  { clock, logger, signal }: RunContext,
): Promise<string | undefined> {
  while (!signal.aborted) {
    try {
      const { metadata } = await client.for(Namespaces).get('kube-system', { signal });
      return `tinkernetes:${metadata.uid ?? ''}`;
    } catch (error) {
      if (signal.aborted) break;
      logger.warn({ err: error }, 'the API server does not answer yet, trying again');
      await clock.sleep(retryMs, signal).catch(() => undefined);
    }
  }
  return undefined;
}
