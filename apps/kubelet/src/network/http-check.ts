import type { Dialer } from '@tinkernetes/vnet';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
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
  /** Of a redirect. */
  location: string | undefined;
}

/** As much of a body as is ever shown. */
const maxBodyBytes = 10 * 1024;

export const hostPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

const maxRedirects = 10;

/**
 * GET through a node's dialer, certificates not verified: what probes and hooks do. Redirects are followed as long as
 * they stay on the host. Source: pkg/probe/http RedirectChecker.
 */
export function httpGet(dialer: Dialer, check: HTTPCheck): Promise<HTTPAnswer> {
  return withRealDeadline(check.timeoutMs, async (signal) => {
    let at = check;
    for (let requests = 1; ; requests++) {
      const answer = await request(dialer, at, signal);
      const next = localRedirect(answer, at);
      if (!next) return answer;
      if (requests >= maxRedirects) throw new Error(`stopped after ${maxRedirects} redirects`);
      at = next;
    }
  });
}

/** Where a redirect leads, if that is the same host. */
function localRedirect({ status, location }: HTTPAnswer, at: HTTPCheck): HTTPCheck | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  const here = `${at.scheme.toLowerCase()}://${hostPort(at.host, at.port)}${at.path}`;
  const there = URL.canParse(location, here) ? new URL(location, here) : undefined;
  if (!there || there.hostname !== new URL(here).hostname) return undefined;
  const scheme = there.protocol === 'https:' ? 'HTTPS' : 'HTTP';
  const port = Number(there.port || (scheme === 'HTTPS' ? 443 : 80));
  return { ...at, scheme, port, path: `${there.pathname}${there.search}` };
}

async function request(dialer: Dialer, check: HTTPCheck, signal: AbortSignal): Promise<HTTPAnswer> {
  const { host, port, timeoutMs } = check;
  const raw = await dialer.dial({ host, port, signal, timeoutMs });
  try {
    return await exchange(raw, check, signal);
  } finally {
    raw.destroy();
  }
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
    const call = httpRequest({ createConnection: () => stream, path: check.path, headers, signal });
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
    location: response.headers.location,
  };
}

/** TLS was spoken to a server that answered in plain HTTP. */
export const isPlainAnswer = (error: unknown): boolean =>
  /wrong version number|packet length too long/.test((error as Error).message);

/** A network error in Go's words, as users know them from events. */
export function dialErrorText(error: unknown, host: string, port: number): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'ETIMEDOUT') {
    return `dial tcp ${hostPort(host, port)}: i/o timeout`;
  }
  if (isPlainAnswer(error)) return 'http: server gave HTTP response to HTTPS client';
  if (message === 'socket hang up') return 'EOF';
  const texts: Record<string, string> = {
    ECONNREFUSED: 'connect: connection refused',
    EHOSTUNREACH: 'connect: no route to host',
    ENETUNREACH: 'connect: network is unreachable',
  };
  const known = code ? texts[code] : undefined;
  return known ? `dial tcp ${hostPort(host, port)}: ${known}` : message;
}
