import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SchedulerCache } from '../cache/scheduler-cache';
import type { SchedulingQueue } from '../queue/scheduling-queue';
import type { Attempts } from './attempts';

export interface DebugSources {
  attempts: Attempts;
  queue: SchedulingQueue;
  cache: SchedulerCache;
}

/**
 * Shows, as JSON, what the scheduler knows: `/debug/scheduler/attempts` (Pods whose last attempt is remembered),
 * `/debug/scheduler/attempts/NAMESPACE/NAME` (that attempt: refusals by node, scores by plugin),
 * `/debug/scheduler/queue` and `/debug/scheduler/cache`. On loopback only.
 */
export async function serveDebug(port: number, sources: DebugSources, signal: AbortSignal): Promise<number> {
  const { createServer } = await import('node:http');
  const server: Server = createServer((request, response) => answer(sources, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return (server.address() as AddressInfo).port;
}

function answer(
  sources: DebugSources,
  { url = '/', method }: IncomingMessage,
  response: ServerResponse,
): void {
  const [pathname = '/'] = url.split('?', 1);
  const found = method === 'GET' ? lookUp(sources, pathname) : undefined;
  response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify(found ?? { error: `nothing is known at ${pathname}` }, undefined, 2)}\n`);
}

function lookUp({ attempts, queue, cache }: DebugSources, pathname: string): unknown {
  const [, debug, scheduler, what, namespace, name] = pathname.split('/');
  if (debug !== 'debug' || scheduler !== 'scheduler') return undefined;
  switch (what) {
    case 'attempts':
      return namespace && name ? attempts.get(`${namespace}/${name}`) : attempts.keys();
    case 'queue':
      return queue.list();
    case 'cache':
      return [...cache.list()].map((node) => ({
        node: node.name,
        pods: node.pods.length,
        requested: { cpu: `${node.requested.milliCpu}m`, memory: node.requested.memory },
        allocatable: { cpu: `${node.allocatable.milliCpu}m`, memory: node.allocatable.memory },
      }));
    default:
      return undefined;
  }
}
