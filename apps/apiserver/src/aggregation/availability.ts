import { EndpointSlices, Services, type APIService, type EndpointSlice } from '@tinkernetes/api';
import type { StoreRegistry } from '../contracts';
import { describeDialError } from '../webhooks/dial-errors';
import { aggregatorUser, userHeaders } from './front-proxy';
import type { RemoteServer } from './remote-server';
import type { Verdict } from './verdict';

const attempts = 5;
const attemptTimeoutMs = 5000;

/** Whether an APIService's server answers. Source: kube-aggregator/pkg/controllers/status/remote. */
export async function checkAvailability(
  stores: StoreRegistry,
  { spec }: APIService,
  server: RemoteServer,
): Promise<Verdict> {
  const unreachable = endpointProblem(stores, server);
  if (unreachable) return { status: 'False', ...unreachable };
  const path = `/apis/${spec.group ?? ''}/${spec.version ?? ''}`;
  const checks = Array.from({ length: attempts }, () => checkDiscovery(server, path));
  const failure = await Promise.any(checks).catch(({ errors }: AggregateError) => errors.at(-1) as Error);
  if (failure) return { status: 'False', reason: 'FailedDiscoveryCheck', message: failure.message };
  return { status: 'True', reason: 'Passed', message: 'all checks passed' };
}

/** What is missing on the way to a server that is behind a Service with a cluster IP. */
function endpointProblem(
  stores: StoreRegistry,
  { address: { namespace, name, port } }: RemoteServer,
): { reason: string; message: string } | undefined {
  const service = stores.for(Services).peek(name, namespace);
  const shown = `service/${name} in "${namespace}"`;
  if (!service) return { reason: 'ServiceNotFound', message: `${shown} is not present` };
  if (service.spec?.type !== 'ClusterIP') return undefined;
  const servicePort = service.spec.ports?.find((p) => p.port === port);
  if (!servicePort) {
    return { reason: 'ServicePortError', message: `${shown} is not listening on port ${port}` };
  }
  const slices = slicesOf(stores, namespace, name);
  if (slices.length === 0) {
    return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${shown}` };
  }
  const portName = servicePort.name ?? '';
  if (slices.some((slice) => hasReadyEndpoint(slice, portName))) return undefined;
  const message = `endpointslices for ${shown} have no addresses with port name "${portName}"`;
  return { reason: 'MissingEndpoints', message };
}

const slicesOf = (stores: StoreRegistry, namespace: string, service: string): EndpointSlice[] =>
  stores
    .for(EndpointSlices)
    .list(namespace)
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service);

const hasReadyEndpoint = ({ endpoints, ports }: EndpointSlice, portName: string): boolean =>
  (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false) &&
  (ports ?? []).some((p) => (p.name ?? '') === portName && p.port !== undefined);

/** Asks for what every aggregated server has to serve. Rejects with the reason why it does not. */
async function checkDiscovery(server: RemoteServer, path: string): Promise<undefined> {
  const url = server.url(path);
  const shown = url.port === '' ? url.href.replace(url.host, `${url.host}:443`) : url.href;
  let reason: string;
  try {
    const { code } = await server.get(path, userHeaders(aggregatorUser), attemptTimeoutMs);
    if (code >= 200 && code < 300) return undefined;
    reason = `bad status from ${shown}: ${code}`;
  } catch (error) {
    reason = `Get "${shown}": ${describeDialError(error)}`;
  }
  throw new Error(`failing or missing response from ${shown}: ${reason}`);
}
