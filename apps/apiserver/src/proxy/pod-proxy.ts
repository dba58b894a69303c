import { Pods } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import type { HandlerDependencies, SubresourceHandler } from '../contracts';
import { admitProxy, proxyHttp, splitSchemeNamePort } from './http-proxy';
import type { KubeletConnections } from './kubelet-connection';

/** `pods/[scheme:]NAME[:port]/proxy`: a port of the Pod, by default its first container's first. */
export function createPodProxy(
  { stores, admit }: HandlerDependencies,
  kubelets: KubeletConnections,
): SubresourceHandler {
  return async (request) => {
    const id = splitSchemeNamePort(request.info.name);
    if (!id) throw badRequest(`invalid pod request "${request.info.name}"`);
    const pod = await stores.for(Pods).get(id.name, request.info.namespace);
    const host = pod.status?.podIP;
    const nodeName = pod.spec?.nodeName;
    if (!host || !nodeName) throw badRequest('address not allowed');
    const scheme = id.scheme || 'http';
    const first = (pod.spec?.containers ?? []).flatMap((c) => c.ports ?? [])[0]?.containerPort;
    const port = Number(id.port || first || (scheme === 'https' ? 443 : 80));
    if (!Number.isInteger(port)) throw badRequest(`invalid pod request "${request.info.name}"`);
    await admitProxy(admit, request, 'PodProxyOptions');
    await proxyHttp(request, {
      base: new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`),
      tls: { rejectUnauthorized: false },
      connect: () => kubelets.dial(nodeName, { host, port }),
    });
  };
}
