import type { Dialer } from '@tinkernetes/vnet';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { connect as tlsConnect } from 'node:tls';
import type { Duplex } from 'node:stream';
import { withRealDeadline } from './deadline';

export interface HTTPCheck {
  scheme: 'HTTP' | 'HTTPS';
  host: string;
  port: number;
  path: string;
  headers: ReadonlyArray<{ name: string; value: string }>;
  timeoutMs: number;
  userAgent: string;
}

export interface HTTPAnswer {
  status: number;
  body: string;
}

/** As much of a body as is ever shown. */
const maxBodyBytes = 10 * 1024;

export const hostPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** One GET through a node's dialer, certificates not verified: what probes and hooks do. Redirects are not followed. */
export function httpGet(dialer: Dialer, check: HTTPCheck): Promise<HTTPAnswer> {
  const { host, port, timeoutMs } = check;
  return withRealDeadline(timeoutMs, async (signal) => {
    const raw = await dialer.dial({ host, port, signal, timeoutMs });
    try {
      return await exchange(raw, check, signal);
    } finally {
      raw.destroy();
    }
  });
}

async function exchange(raw: Duplex, check: HTTPCheck, signal: AbortSignal): Promise<HTTPAnswer> {
  const stream =
    check.scheme === 'HTTPS' ? tlsConnect({ socket: raw, rejectUnauthorized: false, servername: '' }) : raw;
  const headers: Record<string, string> = {
    host: hostPort(check.host, check.port),
    'user-agent': check.userAgent,
    accept: '*/*',
    connection: 'close',
  };
  for (const { name, value } of check.headers) headers[name.toLowerCase()] = value;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    stream.once('error', reject);
    const call = request({ createConnection: () => stream, path: check.path, headers, signal });
    call.once('response', resolve).once('error', reject).end();
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= maxBodyBytes) break;
  }
  return {
    status: response.statusCode ?? 0,
    body: Buffer.concat(chunks).subarray(0, maxBodyBytes).toString(),
  };
}

/** A dial error in Go's words, as users know them from events. */
export function dialErrorText(error: unknown, host: string, port: number): string {
  const code = (error as NodeJS.ErrnoException).code;
  const name = (error as Error).name;
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'ETIMEDOUT') {
    return `dial tcp ${hostPort(host, port)}: i/o timeout`;
  }
  const texts: Record<string, string> = {
    ECONNREFUSED: 'connect: connection refused',
    EHOSTUNREACH: 'connect: no route to host',
    ENETUNREACH: 'connect: network is unreachable',
  };
  const known = code ? texts[code] : undefined;
  return known
    ? `dial tcp ${hostPort(host, port)}: ${known}`
    : error instanceof Error
      ? error.message
      : String(error);
}
