import { realClock, type Logger } from '@tinkernetes/component-base';
import type { Redis } from 'ioredis';

const pollMs = 20;

export interface RestartSealOptions {
  /** Hash in which the server's run is remembered. */
  metaKey: string;
  /** For messages. */
  name: string;
  logger: Logger;
}

/**
 * To be called before anything is written to a Redis that may have been started anew. One that was killed amid a write
 * may have left the beginning of a transaction at the end of its append-only file. It ignores it, but leaves it there:
 * the restart after that would take it for the beginning of what is written next, and so do half of a write that nobody
 * was promised. A file that is rewritten from memory is without it. Source: valkey-io/valkey#4342.
 */
export async function sealAfterRestart(redis: Redis, options: RestartSealOptions): Promise<void> {
  const { metaKey, name, logger } = options;
  const [isStore, sealedRun] = await Promise.all([redis.exists(metaKey), redis.hget(metaKey, 'sealedRun')]);
  const info = await readInfo(redis);
  const run = info.get('run_id') ?? '';
  if (sealedRun === run) return;
  // Before the first write of a store there is no half of one.
  if (isStore && info.get('aof_enabled') === '1') {
    try {
      await rewriteLog(redis);
    } catch (error) {
      if (redis.status !== 'ready') throw error;
      logger.warn({ err: error }, `${name} was restarted and can't rewrite its append-only file: ${risk}`);
    }
  }
  await redis.hset(metaKey, 'sealedRun', run);
}

const risk = 'if it was killed amid a write, half of that may come back with its next restart';

async function rewriteLog(redis: Redis): Promise<void> {
  let info = await readInfo(redis);
  if (!isRewriting(info)) await beginRewrite(redis);
  do {
    await realClock.sleep(pollMs);
    info = await readInfo(redis);
  } while (isRewriting(info));
  const outcome = info.get('aof_last_bgrewrite_status');
  if (outcome !== 'ok') throw new Error(`aof_last_bgrewrite_status: ${outcome}`);
}

/** Another API server may have begun it since it was looked for: then there is its end to wait for. */
async function beginRewrite(redis: Redis): Promise<void> {
  try {
    await redis.bgrewriteaof();
  } catch (error) {
    if (!(error instanceof Error && /already in progress/.test(error.message))) throw error;
  }
}

const isRewriting = (info: ReadonlyMap<string, string>): boolean =>
  info.get('aof_rewrite_in_progress') === '1' || info.get('aof_rewrite_scheduled') === '1';

async function readInfo(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const sections = await Promise.all([redis.info('server'), redis.info('persistence')]);
  const lines = sections.join('\r\n').split('\r\n');
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}
