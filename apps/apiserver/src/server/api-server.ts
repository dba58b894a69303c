import type { RunContext } from '@tinkernetes/component-base';
import type { Storage } from '@tinkernetes/storage';
import { Aggregator } from '../aggregation/aggregator';
import { ClusterIps } from '../allocators/cluster-ips';
import { IpRange } from '../allocators/ip-range';
import { NodePorts } from '../allocators/node-ports';
import { createServiceHooks } from '../allocators/service-hooks';
import { publishOwnAddress } from '../bootstrap/kubernetes-service';
import { publishAuthentication } from '../bootstrap/extension-authentication';
import { createBootstrapObjects } from '../bootstrap/bootstrap-objects';
import { StorageFeed } from '../cacher/storage-feed';
import type { ServerDependencies, SubresourceHandlers, WriteHooks } from '../contracts';
import { runMutating, runValidating } from '../endpoints/admission-chain';
import type { EndpointContext } from '../endpoints/context';
import { createHttpIO } from '../endpoints/http-io';
import type { ApiServerOptions } from '../options';
import { DefinitionManager } from '../custom-resources/definition-manager';
import { createBuiltInResources } from '../registry/generic/built-in-resources';
import { ResourceTable } from '../registry/generic/resource-table';
import { RequestMetrics } from '../request-metrics/request-metrics';
import {
  createAdmissionChain,
  createAuthenticators,
  createAuthorizer,
  createNonResourceHandlers,
  createSubresourceHandlers,
  strategies,
  writeHooks,
} from './composition';
import { SpanCollector } from '../traces/span-collector';
import { installMetricsApi } from '../metrics-api';
import { lazyWebhookClient } from '../webhooks/lazy-webhook-client';
import { createLimiter } from '../flow-control';
import { createHandler } from './handler';
import { createHealthChecks } from './health-checks';
import { startHttpsServer } from './https-server';
import { createServe } from './serve';
import { loadTls } from './tls';

export interface RunningApiServer {
  port: number;
  table: ResourceTable;
  /** Closes connections and waits until nothing runs any more; the storage stays open. */
  stop(): Promise<void>;
}

function serviceHooks(
  { serviceNodePortRange }: ApiServerOptions,
  { random, logger }: RunContext,
  range: IpRange,
  table: ResourceTable,
): WriteHooks {
  return createServiceHooks({
    ips: new ClusterIps(range, () => table, random),
    ports: new NodePorts(serviceNodePortRange, () => table, random),
    logger,
  });
}

/** Builds the server on an open storage and starts to serve. */
export async function startServer(
  options: ApiServerOptions,
  context: RunContext,
  storage: Storage,
): Promise<RunningApiServer> {
  const stopping = new AbortController();
  try {
    return await buildServer(options, { context, storage, stopping });
  } catch (error) {
    // What follows the storage would keep the process alive.
    stopping.abort(error);
    throw error;
  }
}

async function buildServer(
  options: ApiServerOptions,
  { context, storage, stopping }: { context: RunContext; storage: Storage; stopping: AbortController },
): Promise<RunningApiServer> {
  const { clock, random, logger } = context;
  const feed = new StorageFeed(storage, { clock, logger, signal: stopping.signal, metrics: context.metrics });
  const table = new ResourceTable();
  const runtime = { storage, feed, clock, random };
  const serviceRange = new IpRange(options.serviceClusterIpRange);
  const hooks = new Map([...writeHooks, ['/services', serviceHooks(options, context, serviceRange, table)]]);
  for (const resource of createBuiltInResources({ runtime, strategies, hooks })) table.add(resource);
  const [tls] = await Promise.all([loadTls(options, clock.now()), feed.start()]);
  await createBootstrapObjects(table);
  if (options.metricsApi) await installMetricsApi(table, logger);
  const deps: ServerDependencies = { options, context, stores: table };
  const definitions = new DefinitionManager(table, runtime, logger, {
    webhooks: lazyWebhookClient(deps),
    random,
    signal: stopping.signal,
  });
  const stopDefinitions = definitions.start();
  const authenticators = await createAuthenticators(deps);
  const authorizer = createAuthorizer(deps);
  const admission = createAdmissionChain({ ...deps, authorizer });
  let subresources: SubresourceHandlers = new Map();
  const endpoints: EndpointContext = {
    options,
    context,
    clock,
    storage,
    feed,
    table,
    authorizer,
    admission,
    requestMetrics: new RequestMetrics(),
    subresources: () => subresources,
  };
  subresources = createSubresourceHandlers({
    ...deps,
    authorizer,
    authenticators,
    io: createHttpIO(endpoints),
    admit: async (request, change) => {
      const attributes = {
        operation: change.operation,
        group: change.kind.group,
        version: change.kind.version,
        resource: request.info.resource,
        subresource: request.info.subresource,
        kind: change.kind.kind,
        namespace: request.info.namespace,
        name: request.info.name,
        object: change.object,
        oldObject: change.oldObject,
        options: {},
        user: request.user,
        dryRun: change.dryRun ?? false,
        warn: (message: string) => request.warn(message),
      };
      const object = change.object && (await runMutating(admission, attributes));
      await runValidating(admission, { ...attributes, object });
      return object;
    },
  });
  let port = options.securePort;
  const spans = new SpanCollector();
  context.tracer.exportTo((steps) => {
    spans.add(steps);
    return Promise.resolve();
  });
  const aggregator = new Aggregator(deps);
  const serve = createServe({
    aggregator,
    spans,
    context: endpoints,
    serverAddress: () => `${options.advertiseAddress}:${port}`,
    nonResource: createNonResourceHandlers(deps),
    checks: createHealthChecks(options, storage, stopping.signal),
  });
  const { limiter, stopLimiting } = createLimiter(deps, table);
  const handle = createHandler({
    context: endpoints,
    authenticators,
    limiter,
    serve,
    signal: stopping.signal,
  });
  const { loopback } = context;
  const running = await startHttpsServer(
    tls,
    {
      host: options.bindAddress,
      port: options.securePort,
      inProcess: loopback && { loopback, clock },
    },
    handle,
  );
  port = running.port;
  await publishOwnAddress(table, {
    address: options.advertiseAddress,
    port: running.port,
    clusterIp: serviceRange.at(0),
    serviceCidr: options.serviceClusterIpRange,
    now: clock.now(),
  });
  aggregator.start();
  const published = publishAuthentication(table, options).catch((error: unknown) =>
    logger.warn({ err: error }, 'could not publish how clients are authenticated'),
  );
  return {
    port: running.port,
    table,
    async stop() {
      stopping.abort(new Error('the server stops'));
      await running.close();
      stopDefinitions();
      await Promise.all([aggregator.stop(), published, stopLimiting()]);
      await definitions.settled();
      await feed.stopped();
    },
  };
}
