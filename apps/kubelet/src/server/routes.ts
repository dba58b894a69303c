import type { Pod } from '@tinkernetes/api';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { NodeAgent } from '../node-agent';
import { serveCheckpoint } from './checkpoint';
import { serveContainerLogs } from './container-logs';
import { serveConfigz } from './configz';
import { HttpError } from './http-error';
import { serveMetrics, serveProbeMetrics, serveResourceMetrics } from './metrics';
import { serveCadvisorMetrics } from './cadvisor-metrics';
import { serveNodeLogs } from './node-logs';
import type { ServerDeps } from './endpoint';
import { serveStatsSummary } from './stats-summary';
import { serveAttach, serveDial, serveExec, servePortForward, serveRun } from './streaming';

export interface HttpExchange {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}
export interface UpgradeExchange {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  url: URL;
}

/** A container addressed by `/<ns>/<pod>/[<uid>/]<container>`. */
export interface ContainerAddress {
  agent: NodeAgent;
  pod: Pod;
  container: string;
}

const readable = (method: string | undefined) => method === 'GET' || method === 'HEAD';

/** Requests that are answered as plain HTTP. */
export async function serveRequest(deps: ServerDeps, exchange: HttpExchange): Promise<void> {
  const { request, response, url } = exchange;
  const [first = '', ...rest] = url.pathname.split('/').filter(Boolean);
  const path = url.pathname.replace(/\/$/, '');
  if (first === 'run' && request.method === 'POST') return serveRun(deps, exchange, containerAt(deps, rest));
  if (first === 'checkpoint' && request.method === 'POST')
    return serveCheckpoint(deps, exchange, containerAt(deps, rest));
  if (['exec', 'attach', 'portForward', 'dial'].includes(first))
    throw new HttpError(400, 'unable to upgrade: missing upgrade headers in request');
  if (!readable(request.method) || first === 'checkpoint') throw new HttpError(405, 'Method Not Allowed');
  switch (path) {
    case '/healthz':
    case '/healthz/ping':
    case '/healthz/syncloop':
    case '/livez':
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('ok');
      return;
    case '/pods':
      return json(response, {
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: {},
        items: agentOf(deps).podList(),
      });
    case '/runningpods':
      return json(response, {
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: {},
        items: runningPods(agentOf(deps)),
      });
    case '/configz':
      return json(response, serveConfigz(deps.options));
    case '/stats/summary':
      return json(response, await serveStatsSummary(deps, agentOf(deps)));
    case '/metrics':
      return serveMetrics(deps, response);
    case '/metrics/resource':
      return serveResourceMetrics(deps, agentOf(deps), response);
    case '/metrics/cadvisor':
      return serveCadvisorMetrics(deps, agentOf(deps), response);
    case '/metrics/probes':
      return serveProbeMetrics(agentOf(deps), response);
  }
  if (first === 'logs') return serveNodeLogs(join(deps.options.rootDir, 'log'), exchange);
  if (first === 'containerLogs') return serveContainerLogs(deps, exchange, containerAt(deps, rest));
  throw new HttpError(404, '404 page not found');
}

/** Requests that become connections. */
export async function serveUpgrade(deps: ServerDeps, exchange: UpgradeExchange): Promise<void> {
  const [first = '', ...rest] = exchange.url.pathname.split('/').filter(Boolean);
  switch (first) {
    case 'exec':
      return serveExec(deps, exchange, containerAt(deps, rest));
    case 'attach':
      return serveAttach(deps, exchange, containerAt(deps, rest));
    case 'portForward':
      return servePortForward(deps, exchange, podAt(deps, rest));
    case 'dial':
      return serveDial(deps, exchange);
    default:
      throw new HttpError(404, '404 page not found');
  }
}

function agentOf(deps: ServerDeps): NodeAgent {
  const agent = deps.agent();
  if (!agent) throw new HttpError(503, 'the kubelet is starting');
  return agent;
}

function podAt(
  deps: ServerDeps,
  [namespace = '', name = '']: readonly string[],
): { agent: NodeAgent; pod: Pod } {
  const agent = agentOf(deps);
  const pod = agent.findPod(namespace, name);
  if (!pod) throw new HttpError(404, `pod does not exist`);
  return { agent, pod };
}

function containerAt(deps: ServerDeps, segments: readonly string[]): ContainerAddress {
  if (segments.length < 3) throw new HttpError(400, '{"message": "missing container name."}');
  return { ...podAt(deps, segments), container: segments[segments.length - 1] ?? '' };
}

const runningPods = (agent: NodeAgent): Pod[] =>
  agent.podList().filter((pod) => pod.status?.phase === 'Running');

export function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
