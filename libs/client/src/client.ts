import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { realClock, type Clock, type LoopbackNetwork, type Metrics } from '@tinkernetes/component-base';
import { createRequestMetrics } from './request-metrics';
import { callJson, createResourceClient, toRequest } from './resource-client';
import { TraceContexts } from './trace-contexts';
import { createTransport, readText, type ConnectionPool } from './transport';
import type { Client, ClientConfig } from './types';

export interface ClientDeps {
  clock?: Clock;
  /** Shared with other clients of the same server and TLS identity; who made it closes it. */
  connections?: ConnectionPool;
  /** Requests beyond so many wait for each other. Default: enough for bursts of hundreds. */
  maxConnections?: number;
  /** Counts and times the requests under client-go's names. */
  metrics?: Metrics;
  /** Reaches servers of this process without TLS. */
  loopback?: LoopbackNetwork;
}

/** A client for one API server. Makes no connection before the first call. */
export function createClient(
  config: ClientConfig,
  { clock = realClock, connections, metrics, loopback, maxConnections }: ClientDeps = {},
): Client {
  const transport = createTransport(config, {
    clock,
    connections,
    loopback,
    maxConnections,
    observe: metrics && createRequestMetrics(metrics, new URL(config.server).host),
  });
  const traces = new TraceContexts();
  return {
    server: config.server,
    for: <T extends KubeObject>(descriptor: ResourceDescriptor<T>) =>
      createResourceClient(descriptor, transport, traces),
    async request<R>(request: Parameters<Client['request']>[0]) {
      return (await callJson<R>(transport, request)).value;
    },
    async requestText(request) {
      const call = toRequest({ ...request, headers: { accept: '*/*', ...request.headers } });
      return readText(await transport.open(call));
    },
    traceOf: (object) => traces.of(object),
    close: () => transport.close(),
  };
}
