import type { IncomingMessage } from 'node:http';

const bearerProtocol = 'base64url.bearer.authorization.k8s.io.';

/** What authenticated the client to this server is for no one behind it. */
export function withoutCredentials(request: IncomingMessage): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = { authorization: undefined, cookie: undefined };
  for (const name of Object.keys(request.headers)) {
    if (name.startsWith('impersonate-') || name.startsWith('x-remote-')) headers[name] = undefined;
  }
  const protocols = request.headers['sec-websocket-protocol'];
  if (protocols?.includes(bearerProtocol)) {
    headers['sec-websocket-protocol'] = protocols
      .split(',')
      .map((protocol) => protocol.trim())
      .filter((protocol) => !protocol.startsWith(bearerProtocol))
      .join(', ');
  }
  return headers;
}
