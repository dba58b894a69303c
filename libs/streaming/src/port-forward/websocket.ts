import type { Duplex } from 'node:stream';
import type { PortForwardHandler, UpgradeRequest } from '../types';
import { acceptWebSocket } from '../websocket/accept';
import { WebSocketChannels } from '../websocket/channels';
import { connectPort } from './connect';

/**
 * Port-forward over WebSocket channels: for the i-th port, channel 2i carries data and 2i+1 errors; each begins with
 * the port number, two bytes, little endian. Source: k8s.io/kubelet/pkg/cri/streaming/portforward websocket.go.
 */
export async function serveWebSocketPortForward(
  upgrade: UpgradeRequest,
  options: { protocol: string | undefined; ports: readonly number[] },
  handler: PortForwardHandler,
): Promise<void> {
  const webSocket = await acceptWebSocket(upgrade, options.protocol);
  const base64 = options.protocol?.includes('base64') ?? false;
  const channels = new WebSocketChannels(webSocket, { base64, closable: false });
  const gone = new AbortController();
  const closed = new Promise<void>((resolve) => webSocket.once('close', () => resolve())).then(() =>
    gone.abort(new Error('the client has closed the connection')),
  );
  const forwarded = options.ports.map((port, i) => {
    const data: Duplex = channels.channel(2 * i);
    const error = channels.channel(2 * i + 1);
    const prefix = Buffer.alloc(2);
    prefix.writeUInt16LE(port);
    data.write(prefix);
    error.write(prefix);
    return connectPort({ port, data, error, signal: gone.signal, handler });
  });
  await Promise.race([Promise.all(forwarded), closed]);
  channels.close();
  await closed;
}
