import type { Duplex } from 'node:stream';
import { Services } from '@tinkernetes/api';
import type { ServerDependencies } from '../contracts';
import type { DialTarget, KubeletConnections } from './kubelet-connection';
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
  { namespace, name, port, signal }: ServiceAddress & Pick<DialTarget, 'signal'>,
): Promise<Duplex> {
  const service = await deps.stores.for(Services).get(name, namespace);
  const { externalName } = service.spec ?? {};
  if (service.spec?.type === 'ExternalName' && externalName) {
    return kubelets.dialHost({ host: externalName, port, signal });
  }
  const { host, port: target, nodeName } = endpointOf(deps, service, String(port));
  if (nodeName !== undefined) return kubelets.dial(nodeName, { host, port: target, signal });
  return kubelets.dialHost({ host, port: target, signal });
}
