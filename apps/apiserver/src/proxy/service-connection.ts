import type { Duplex } from 'node:stream';
import { Services } from '@tinkernetes/api';
import type { ServerDependencies } from '../contracts';
import type { KubeletConnections } from './kubelet-connection';
import { endpointOf } from './service-proxy';

export interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** A connection to one of a Service's ready endpoints. Throws NotFound and ServiceUnavailable. */
export async function connectToService(
  deps: ServerDependencies,
  kubelets: KubeletConnections,
  { namespace, name, port }: ServiceAddress,
): Promise<Duplex> {
  const service = await deps.stores.for(Services).get(name, namespace);
  const { externalName } = service.spec ?? {};
  if (service.spec?.type === 'ExternalName' && externalName) return kubelets.dialHost(externalName, port);
  const { host, port: target, nodeName } = endpointOf(deps, service, String(port));
  if (nodeName !== undefined) return kubelets.dial(nodeName, { host, port: target });
  return kubelets.dialHost(host, target);
}
