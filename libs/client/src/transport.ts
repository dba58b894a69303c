import * as http from 'node:http';
import * as https from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import { readFile } from 'node:fs/promises';
import type { Clock, LoopbackNetwork } from '@tinkernetes/component-base';
import type { ObserveRequest } from './request-metrics';
import { LoopbackAgent } from './loopback-agent';
import { ResumingAgent, SharedSession } from './resuming-agent';
import { statusErrorOf } from './status-of-response';
import type { ClientConfig } from './types';

export interface TransportRequest {
  method: string;
  /** With query string, from the server's root. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** A watch: has a connection of its own, for as long as it lasts. */
  isStream?: boolean;
}

/** One API server over HTTP/1.1 with connections kept alive. */
export interface Transport {
  /** An answer with a 2xx code, its body unread. Rejects with StatusError for other codes. */
  open(request: TransportRequest): Promise<http.IncomingMessage>;
  close(): void;
}

/**
 * Requests beyond so many wait for a connection that is free: a burst of hundreds, a Deployment that grows, say, would
 * otherwise pay for hundreds of TLS handshakes on both sides.
 */
const maxConnections = 32;

/** A server that asks for patience (429 or 5xx with Retry-After) is asked again as often as client-go does. */
const maxRetries = 10;
const tokenFileMaxAgeMs = 60_000;

/** Connections to one server with one TLS identity; clients whose tokens differ may share them. */
export interface ConnectionPool {
  readonly requests: http.Agent;
  readonly streams: http.Agent;
  close(): void;
}

export interface ConnectionPoolOptions {
  /** Of connections for requests; each stream has one of its own. */
  limit?: number;
  loopback?: LoopbackNetwork;
}

export function createConnectionPool(
  config: ClientConfig,
  { limit = maxConnections, loopback }: ConnectionPoolOptions = {},
): ConnectionPool {
  const pool = { keepAlive: true, noDelay: true };
  const requests = { ...pool, maxSockets: limit, maxFreeSockets: limit };
  if (new URL(config.server).protocol !== 'https:')
    return poolOf(new http.Agent(requests), new http.Agent(pool));
  const tls = { rejectUnauthorized: !config.insecureSkipTLSVerify };
  if (loopback) {
    let made: SecureContext | undefined;
    const secureContext = () => (made ??= secureContextOf(config));
    const agent = (options: https.AgentOptions) =>
      new LoopbackAgent({ ...options, ...tls }, { loopback, config, secureContext });
    return poolOf(agent(requests), agent(pool));
  }
  const secured = { ...tls, secureContext: secureContextOf(config) };
  const session = new SharedSession();
  return poolOf(
    new ResumingAgent({ ...requests, ...secured }, session),
    new ResumingAgent({ ...pool, ...secured, waits: true }, session),
    session,
  );
}

function poolOf(requests: http.Agent, streams: http.Agent, session?: SharedSession): ConnectionPool {
  return {
    requests,
    streams,
    close() {
      session?.close();
      requests.destroy();
      streams.destroy();
    },
  };
}

export interface TransportDeps {
  clock: Clock;
  /** Default: one of its own, which ends with the transport. */
  connections?: ConnectionPool;
  loopback?: LoopbackNetwork;
  maxConnections?: number;
  observe?: ObserveRequest;
}

export function createTransport(
  config: ClientConfig,
  { clock, connections, loopback, maxConnections: limit, observe }: TransportDeps,
): Transport {
  const server = new URL(config.server);
  const basePath = server.pathname.replace(/\/$/, '');
  const secure = server.protocol === 'https:';
  const pool = connections ?? createConnectionPool(config, { limit, loopback });
  const bearer = bearerToken(config, clock);

  const send = async (request: TransportRequest): Promise<http.IncomingMessage> => {
    const token = await bearer();
    return roundTrip(secure ? https : http, request, {
      agent: request.isStream ? pool.streams : pool.requests,
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port || (secure ? 443 : 80),
      method: request.method,
      path: basePath + request.path,
      headers: {
        'user-agent': config.userAgent,
        accept: 'application/json',
        ...(config.traces ? { 'x-tinkernetes-trace': '1' } : {}),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(request.body === undefined
          ? {}
          : {
              'content-type': 'application/json',
              'content-length': String(Buffer.byteLength(request.body)),
            }),
        ...request.headers,
      },
    });
  };

  const observed = async (request: TransportRequest): Promise<http.IncomingMessage> => {
    if (!observe) return send(request);
    const startedAt = clock.monotonic();
    const note = (code: number | undefined) =>
      observe({
        method: request.method,
        code,
        ms: clock.monotonic() - startedAt,
        requestBytes: Buffer.byteLength(request.body ?? ''),
      });
    try {
      const response = await send(request);
      note(response.statusCode);
      return response;
    } catch (error) {
      note(undefined);
      throw error;
    }
  };

  return {
    async open(request) {
      for (let attempt = 0; ; attempt++) {
        const response = await observed(request);
        const code = response.statusCode ?? 0;
        if (code >= 200 && code < 300) return response;
        const body = await readText(response);
        const waitMs = retryAfterMs(response);
        if (waitMs === undefined || attempt >= maxRetries) throw statusErrorOf(code, body, request);
        await clock.sleep(waitMs, request.signal);
      }
    },
    close: () => (connections ? undefined : pool.close()),
  };
}

/** Certificates and keys are parsed once for all connections: each watch has one of its own. */
function secureContextOf({ caData, certData, keyData }: ClientConfig): SecureContext {
  return createSecureContext({ ca: caData, cert: certData, key: keyData });
}

async function roundTrip(
  library: typeof http | typeof https,
  request: TransportRequest,
  options: https.RequestOptions,
): Promise<http.IncomingMessage> {
  for (;;) {
    try {
      return await exchange(library, request, options);
    } catch (error) {
      // The server closed an idle connection while we took it from the pool. Safe to repeat only where nothing is written.
      if (!(error instanceof StaleConnectionError)) throw error;
      if (request.method !== 'GET') throw error.cause;
    }
  }
}

class StaleConnectionError extends Error {}

function exchange(
  library: typeof http | typeof https,
  { signal, body }: TransportRequest,
  options: https.RequestOptions,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const request = library.request(options);
    const onAbort = () => request.destroy(signal?.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    request.once('close', () => signal?.removeEventListener('abort', onAbort));
    request.once('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      if (signal?.aborted) reject(signal.reason as Error);
      else reject(stale ? new StaleConnectionError(error.message, { cause: error }) : error);
    });
    request.end(body);
  });
}

/** The whole body as text. Rejects when the connection breaks before its end. */
export function readText(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    // An asynchronous iterator would cost more than all the rest of a small answer.
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    response.once('error', reject);
    response.once('close', () => {
      if (!response.complete) reject(new Error('the connection broke before the end of the answer'));
    });
  });
}

function retryAfterMs(response: http.IncomingMessage): number | undefined {
  const code = response.statusCode ?? 0;
  if (code !== 429 && code < 500) return undefined;
  const seconds = Number.parseInt(response.headers['retry-after'] ?? '', 10);
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}

function bearerToken(config: ClientConfig, clock: Clock): () => Promise<string | undefined> {
  const { token, tokenFile, tokenSource } = config;
  if (tokenSource) return tokenSource;
  if (!tokenFile) return () => Promise.resolve(token);
  let cached: { value: string; readAt: number } | undefined;
  return async () => {
    if (!cached || clock.monotonic() - cached.readAt > tokenFileMaxAgeMs) {
      cached = { value: (await readFile(tokenFile, 'utf8')).trim(), readAt: clock.monotonic() };
    }
    return cached.value;
  };
}
