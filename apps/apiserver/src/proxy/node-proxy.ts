import { badRequest } from '@tinkernetes/apimachinery';
import type { HandlerDependencies, SubresourceHandler } from '../contracts';
import { admitProxy, proxyHttp, splitSchemeNamePort } from './http-proxy';
import type { KubeletConnections } from './kubelet-connection';

/** `nodes/[scheme:]NAME[:port]/proxy`: the node's kubelet, or another port of the node. */
export function createNodeProxy(
  { admit }: HandlerDependencies,
  kubelets: KubeletConnections,
): SubresourceHandler {
  return async (request) => {
    const id = splitSchemeNamePort(request.info.name);
    if (!id) throw badRequest(`invalid node request "${request.info.name}"`);
    await admitProxy(admit, request, 'NodeProxyOptions');
    const { base, tls } = await kubelets.locate(id.name);
    const isKubelet = id.port === '' || id.port === base.port;
    if (isKubelet) return proxyHttp(request, { base, tls });
    const other = new URL(base);
    other.protocol = id.scheme || 'http';
    other.port = id.port;
    return proxyHttp(request, { base: other, tls: { rejectUnauthorized: false } });
  };
}
