import type { WebSocket } from 'ws';
import type { UpgradeRequest } from '../types';

/** Completes the handshake with the chosen subprotocol (undefined: none). Rejects when the request is malformed. */
export async function acceptWebSocket(
  upgrade: UpgradeRequest,
  protocol: string | undefined,
): Promise<WebSocket> {
  // Loaded when the first exec comes: a node without any needs no WebSocket code.
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: () => protocol ?? false,
  });
  return new Promise((resolve, reject) => {
    server.once('wsClientError', reject);
    server.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, resolve);
  });
}
