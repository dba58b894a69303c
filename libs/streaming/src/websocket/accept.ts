import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { UpgradeRequest } from '../types';
import { refuseUpgrade } from '../upgrade-response';

/** Completes the handshake with the chosen subprotocol (undefined: none). Refuses a malformed request and rejects. */
export async function acceptWebSocket(
  upgrade: UpgradeRequest,
  protocol: string | undefined,
): Promise<WebSocket> {
  // Loaded when the first exec comes: a node without any needs no WebSocket code.
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  // The library takes no subprotocol with a `/` in its name (`SPDY/3.1+portforward.k8s.io`), so it is kept out of this.
  const { 'sec-websocket-protocol': _, ...headers } = upgrade.request.headers;
  const request = Object.create(upgrade.request, { headers: { value: headers } }) as IncomingMessage;
  if (protocol) server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  return new Promise((resolve, reject) => {
    server.once('wsClientError', (error) => {
      refuseUpgrade(upgrade.socket, 400, error.message);
      reject(error);
    });
    server.handleUpgrade(request, upgrade.socket, upgrade.head, resolve);
  });
}
