import { headerList, negotiate, upgradeKind } from '../negotiate';
import type { PortForwardHandler, UpgradeRequest } from '../types';
import { acceptUpgrade, refuseUpgrade } from '../upgrade-response';
import { acceptWebSocket } from '../websocket/accept';
import { webSocketTunnel } from '../websocket/tunnel';
import { serveSpdyPortForward } from './spdy';
import { serveWebSocketPortForward } from './websocket';

const spdyProtocol = 'portforward.k8s.io';
/** SPDY inside a WebSocket's binary messages (KEP-4006). */
const tunnelProtocol = `SPDY/3.1+${spdyProtocol}`;
const channelProtocols = [
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
];

export interface PortForwardOptions {
  /** For plain WebSocket clients, which name their ports in the query; the others name one with each stream. */
  ports?: readonly number[];
}

/**
 * Serves one port-forward connection: `handler` is called for each forwarded connection. Never rejects; resolves when
 * the client's connection is closed. Source: k8s.io/kubelet/pkg/cri/streaming/portforward.
 */
export async function servePortForward(
  upgrade: UpgradeRequest,
  handler: PortForwardHandler,
  { ports = [] }: PortForwardOptions = {},
): Promise<void> {
  const { request, socket, head } = upgrade;
  socket.on('error', () => socket.destroy());
  try {
    switch (upgradeKind(request)) {
      case 'spdy': {
        const offered = headerList(request, 'x-stream-protocol-version');
        // The oldest clients name none.
        if (offered.length > 0 && !offered.includes(spdyProtocol)) {
          return refuseUpgrade(socket, 403, 'unable to upgrade: no common stream protocol');
        }
        acceptUpgrade(socket, { Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': spdyProtocol });
        if (head.length > 0) socket.unshift(head);
        return await serveSpdyPortForward(socket, handler);
      }
      case 'websocket': {
        const offered = headerList(request, 'sec-websocket-protocol');
        const protocol = negotiate(offered, [tunnelProtocol, ...channelProtocols]);
        if (offered.length > 0 && !protocol) {
          return refuseUpgrade(socket, 403, 'unable to upgrade: no common stream protocol');
        }
        if (protocol === tunnelProtocol) {
          const tunnel = await webSocketTunnel(await acceptWebSocket(upgrade, protocol));
          return await serveSpdyPortForward(tunnel, handler);
        }
        if (ports.length === 0) return refuseUpgrade(socket, 400, 'query parameter "port" is required');
        return await serveWebSocketPortForward(upgrade, { protocol, ports }, handler);
      }
      default:
        return refuseUpgrade(
          socket,
          400,
          `unable to upgrade: unsupported protocol ${request.headers.upgrade ?? ''}`,
        );
    }
  } catch {
    // Refused with an answer, or broken while it was negotiated: then nobody is left to tell.
    if (!socket.writableEnded) socket.destroy();
  }
}
