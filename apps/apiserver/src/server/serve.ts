import type { ApiRequest } from '../contracts';
import { dispatch } from '../endpoints/dispatch';
import type { EndpointContext } from '../endpoints/context';
import { serveDiscovery, type DiscoveryOptions } from '../discovery/handler';
import { serveHealth, type HealthCheck } from './health';
import { PlainNotFound, sendJson, sendText } from './respond';
import { versionInfo } from './version';

export interface ServeOptions {
  context: EndpointContext;
  discovery: DiscoveryOptions;
  checks: readonly HealthCheck[];
}

/** Everything that is served, by kind of path. */
export function createServe({ context, discovery, checks }: ServeOptions) {
  return async function serve(request: ApiRequest): Promise<void> {
    if (request.info.isResourceRequest) {
      await dispatch(context, request);
      return;
    }
    if (serveDiscovery(discovery, request)) return;
    if (await serveHealth(checks, request)) return;
    switch (request.info.path.replace(/\/$/, '')) {
      case '/version':
        sendJson(request.response, 200, versionInfo);
        return;
      case '/metrics':
        sendText(request.response, 200, await context.context.metrics.expose());
        return;
      default:
        throw new PlainNotFound();
    }
  };
}
