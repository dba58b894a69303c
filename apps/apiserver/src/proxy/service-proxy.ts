import { EndpointSlices, Services } from '@tinkernetes/api';
import type { EndpointSlice, Service } from '@tinkernetes/api';
import { badRequest, notFound, serviceUnavailable } from '@tinkernetes/apimachinery';
import type { HandlerDependencies, ServerDependencies, SubresourceHandler } from '../contracts';
import { admitProxy, proxyHttp, splitSchemeNamePort } from './http-proxy';
import type { KubeletConnections } from './kubelet-connection';

export interface ServiceEndpoint {
  readonly host: string;
  readonly port: number;
  readonly nodeName: string | undefined;
}

/** `services/[scheme:]NAME[:port]/proxy`: one of the Service's ready endpoints, past its cluster IP. */
export function createServiceProxy(
  deps: HandlerDependencies,
  kubelets: KubeletConnections,
): SubresourceHandler {
  return async (request) => {
    const id = splitSchemeNamePort(request.info.name);
    if (!id) throw badRequest(`invalid service request "${request.info.name}"`);
    const service = await deps.stores.for(Services).get(id.name, request.info.namespace);
    const { host, port, nodeName } = endpointOf(deps, service, id.port);
    await admitProxy(deps.admit, request, 'ServiceProxyOptions');
    const scheme = id.scheme || 'http';
    const tls = { rejectUnauthorized: false };
    if (nodeName === undefined) {
      return proxyHttp(request, { base: kubelets.urlOf(scheme, host, port), tls });
    }
    return proxyHttp(request, {
      base: new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`),
      tls,
      connect: () => kubelets.dial(nodeName, { host, port }),
    });
  };
}

/**
 * A ready endpoint behind the Service's port of that name or number ('' for its only one), at random. Source:
 * registry/core/service/storage.REST.ResourceLocation.
 */
export function endpointOf(
  { stores, context }: ServerDependencies,
  service: Service,
  wanted: string,
): ServiceEndpoint {
  const { name = '', namespace } = service.metadata;
  const portName = portNameOf(service, wanted);
  const slices = stores
    .for(EndpointSlices)
    .list(namespace)
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name);
  // Nobody has looked for endpoints yet: upstream takes that for a Service that isn't there.
  if (slices.length === 0 && !stores.find('', 'endpoints')?.peek(name, namespace))
    throw notFound(Services, name);
  const found = slices.flatMap((slice) => readyEndpoints(slice, portName));
  const chosen = found[Math.floor(context.random.next() * found.length)];
  if (!chosen) throw serviceUnavailable(`no endpoints available for service "${name}"`);
  return chosen;
}

/** Endpoints know their ports by name. */
function portNameOf({ metadata, spec }: Service, wanted: string): string {
  const ports = spec?.ports ?? [];
  if (wanted === '' && ports.length === 1) return ports[0]?.name ?? '';
  if (!/^\d+$/.test(wanted)) return wanted;
  const port = ports.find((p) => String(p.port) === wanted);
  if (port) return port.name ?? '';
  throw serviceUnavailable(`no service port ${wanted} found for service "${metadata.name ?? ''}"`);
}

function readyEndpoints(slice: EndpointSlice, portName: string): ServiceEndpoint[] {
  const port = slice.ports?.find((p) => (p.name ?? '') === portName)?.port;
  if (!port) return [];
  return (slice.endpoints ?? []).flatMap(({ addresses, conditions, nodeName }) => {
    const [host] = addresses ?? [];
    return host === undefined || conditions?.ready === false ? [] : [{ host, port, nodeName }];
  });
}
