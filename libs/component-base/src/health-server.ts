import { rm } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics';

/** Throws or rejects when what it checks is not well. */
export type HealthCheck = () => void | Promise<void>;

export interface HealthServerOptions {
  /** An address, or `unix:PATH` for a socket: then the port does not matter. */
  bindAddress: string;
  /** 0: any free one. */
  port: number;
  /** PEM; left out: plain HTTP. */
  tls?: { cert: string; key: string };
  /** By name; asked at `/healthz` and `/livez`, each also at `/healthz/NAME`. */
  checks?: Readonly<Record<string, HealthCheck>>;
  /** Asked at `/readyz` besides `checks`. */
  readyChecks?: Readonly<Record<string, HealthCheck>>;
  metrics: Metrics;
  /** Closes the server and its connections. */
  signal: AbortSignal;
}

export interface HealthServer {
  port: number;
  /** Resolves when it is closed. */
  stopped: Promise<void>;
  /** Closes it now, for a component that ends before it is told to. */
  stop(): Promise<void>;
}

/**
 * A component's own small server: `/healthz`, `/livez`, `/readyz` (all with `?verbose`) and `/metrics`.
 * See https://kubernetes.io/docs/reference/using-api/health-checks/
 */
export async function serveHealth(options: HealthServerOptions): Promise<HealthServer> {
  const { signal, tls, port, bindAddress } = options;
  signal.throwIfAborted();
  const server = await createServer(tls, (request, response) => {
    answer(options, request, response).catch((error: unknown) =>
      send(response, 500, `${error instanceof Error ? error.message : String(error)}\n`),
    );
  });
  const socketPath = /^unix:(.+)$/.exec(bindAddress)?.[1];
  if (socketPath) await removeStale(socketPath);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath ? { path: socketPath } : { port, host: bindAddress }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const stopped = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return {
    port: socketPath ? 0 : (server.address() as AddressInfo).port,
    stopped,
    stop: () => {
      signal.removeEventListener('abort', stop);
      stop();
      return stopped;
    },
  };
}

/** A server that was killed has left its socket behind. */
const removeStale = (path: string): Promise<void> => rm(path, { force: true });

async function createServer(
  tls: HealthServerOptions['tls'],
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  if (tls) return (await import('node:https')).createServer(tls, handler);
  return (await import('node:http')).createServer(handler);
}

async function answer(
  options: HealthServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/', query] = (request.url ?? '/').split('?', 2);
  const [, root = '', name] = path.split('/');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response, 405, 'method not allowed\n');
  if (path === '/metrics') {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    return send(response, 200, await options.metrics.expose());
  }
  if (root !== 'healthz' && root !== 'livez' && root !== 'readyz')
    return send(response, 404, '404 page not found\n');
  const checks = {
    ping: () => undefined,
    ...options.checks,
    ...(root === 'readyz' ? options.readyChecks : {}),
  };
  const chosen = Object.entries<HealthCheck>(checks).filter(
    ([check]) => name === undefined || check === name,
  );
  if (chosen.length === 0) return send(response, 404, '404 page not found\n');
  const report = await runChecks(chosen);
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  if (!report.healthy) return send(response, 500, `${report.text}${root} check failed\n`);
  return send(
    response,
    200,
    new URLSearchParams(query).has('verbose') ? `${report.text}${root} check passed\n` : 'ok',
  );
}

async function runChecks(checks: [string, HealthCheck][]): Promise<{ healthy: boolean; text: string }> {
  const lines = await Promise.all(
    checks.map(async ([name, check]) => {
      try {
        await check();
        return `[+]${name} ok\n`;
      } catch (error) {
        return `[-]${name} failed: ${error instanceof Error ? error.message : String(error)}\n`;
      }
    }),
  );
  return { healthy: lines.every((line) => line.startsWith('[+]')), text: lines.join('') };
}

function send(response: ServerResponse, code: number, text: string): void {
  response.statusCode = code;
  response.end(text);
}
