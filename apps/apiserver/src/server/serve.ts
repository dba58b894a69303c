import type { ApiRequest, NonResourceHandler } from '../contracts';
import type { Aggregator } from '../aggregation/aggregator';
import { RemoteDocuments } from '../aggregation/remote-documents';
import { dispatch } from '../endpoints/dispatch';
import { checkAccepted } from '../endpoints/route-media-types';
import { unsupportedMethod } from '../endpoints/routes';
import type { EndpointContext } from '../endpoints/context';
import { serveDiscovery, type DiscoveryOptions } from '../discovery/handler';
import { apiGroups } from '../discovery/documents';
import { OpenApiDocuments } from '../openapi/handler';
import type { ResourceTable } from '../registry/generic/resource-table';
import { serveSpans } from '../traces/handler';
import type { SpanCollector } from '../traces/span-collector';
import { serveHealth, type HealthCheck } from './health';
import { jsonType, PlainNotFound, sendBytes, sendText } from './respond';
import { serveSnapshot } from './snapshot';
import { versionInfo } from './version';

/** What `/` lists. */
function rootPaths(table: ResourceTable, checks: readonly HealthCheck[]): string[] {
  const groups = apiGroups(table).flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
  ]);
  const health = checks.flatMap(({ name, only }) => [
    ...(only === 'ready' ? [] : [`/healthz/${name}`, `/livez/${name}`]),
    ...(only === 'live' ? [] : [`/readyz/${name}`]),
  ]);
  return [...fixedPaths, ...groups, ...health].sort();
}

const fixedPaths = [
  '/.well-known/openid-configuration',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
];

export interface ServeOptions {
  context: EndpointContext;
  serverAddress(): string;
  checks: readonly HealthCheck[];
  /** Paths of other parts of the server. */
  nonResource: readonly NonResourceHandler[];
  spans: SpanCollector;
  /** Sends on what other servers serve. */
  aggregator: Aggregator;
}

const indented = (value: object): string => JSON.stringify(value, null, 2);

/** Everything that is served, by kind of path. */
export function createServe({ context, checks, spans, nonResource, aggregator, ...options }: ServeOptions) {
  const remoteDocuments = new RemoteDocuments(context.clock);
  aggregator.onChange(() => remoteDocuments.keepOnly(aggregator.all()));
  const discovery: DiscoveryOptions = { table: context.table, aggregator, remoteDocuments, ...options };
  const openApi = new OpenApiDocuments(discovery, context.options.openApiDescriptionsFile, context.clock);
  return async function serve(request: ApiRequest): Promise<void> {
    if (aggregator.hasRemotes && (await aggregator.serve(request))) return;
    if (request.info.isResourceRequest) {
      await dispatch(context, request);
      return;
    }
    if (await serveDiscovery(discovery, request)) return;
    if (await serveHealth(checks, request)) return;
    for (const handler of nonResource) if (await handler(request, request.info)) return;
    if (await openApi.serve(request)) return;
    if (await serveSnapshot(context.storage, request)) return;
    if (await serveSpans(spans, request, context.options.maxRequestBodyBytes)) return;
    switch (request.info.path) {
      case '/version':
      case '/version/':
        if (request.raw.method !== 'GET') throw unsupportedMethod();
        checkAccepted(request.raw.headers.accept, [jsonType]);
        sendBytes(request.response, 200, jsonType, indented(versionInfo));
        return;
      case '/metrics':
        sendText(
          request.response,
          200,
          `${await context.context.metrics.expose()}\n${context.requestMetrics.expose()}`,
        );
        return;
      case '/':
      case '/index.html':
        sendBytes(request.response, 200, jsonType, indented({ paths: rootPaths(context.table, checks) }));
        return;
      default:
        throw new PlainNotFound();
    }
  };
}
