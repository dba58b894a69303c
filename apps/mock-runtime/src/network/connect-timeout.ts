import type { Socket } from 'node:net';
import { linkSignals, type Clock } from '@tinkernetes/component-base';
import { NetError } from '@tinkernetes/vnet';
import type { ConnectTarget } from './net-namespace';

/** As long as Linux tries to connect to an address that stays silent (tcp_syn_retries = 6). */
export const connectTimeoutMs = 127_000;

/** Gives up on a connection attempt when the caller does. */
export async function within(
  attempt: (signal: AbortSignal) => Promise<Socket>,
  wanted: ConnectTarget,
  clock: Clock,
): Promise<Socket> {
  const timeout = new AbortController();
  const timer = clock.setTimeout(
    () => timeout.abort(new NetError('ETIMEDOUT', `dial tcp ${wanted.host}:${wanted.port}`)),
    wanted.timeoutMs ?? connectTimeoutMs,
    { unref: true },
  );
  const { signal, release } = linkSignals(wanted.signal, timeout.signal);
  try {
    return await attempt(signal);
  } finally {
    timer.cancel();
    release();
  }
}
