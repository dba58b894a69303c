import type { ApiRequest } from '../contracts';
import { forward, queryOf, relay } from '../proxy/http-proxy';
import { passUpgrade } from '../proxy/pass-upgrade';
import { sendPlainError } from '../server/respond';
import { describeDialError } from '../webhooks/dial-errors';
import { isAvailable, type RemoteApi } from './aggregator';
import { userHeaders } from './front-proxy';

const unavailable = 503;

/** Lets another server answer, as the user that this server has authenticated. Source: kube-aggregator/pkg/apiserver/handler_proxy.go. */
export async function proxyToRemote(request: ApiRequest, remote: RemoteApi): Promise<void> {
  if (!isAvailable(remote)) {
    sendPlainError(request.response, unavailable, 'service unavailable');
    return;
  }
  // What it costs from here on is the other server's to limit.
  request.begun();
  const { server } = remote;
  const url = server.url(request.info.path + queryOf(request));
  const headers = userHeaders(request.user);
  if (request.upgrade) {
    const tls = await server.tls();
    await passUpgrade(request, { url, tls, connect: () => server.connect(), headers });
    return;
  }
  let answer;
  try {
    answer = await forward(request, { url, connection: server.connection, headers });
  } catch (error) {
    if (request.signal.aborted) return;
    const cause = error instanceof Error && error.cause ? error.cause : error;
    sendPlainError(
      request.response,
      unavailable,
      `error trying to reach service: ${describeDialError(cause)}`,
    );
    return;
  }
  await relay(request, answer);
}
