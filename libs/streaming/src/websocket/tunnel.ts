import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** A byte stream over the binary messages of a WebSocket; message borders mean nothing. */
export async function webSocketTunnel(webSocket: WebSocket): Promise<Duplex> {
  const { createWebSocketStream } = await import('ws');
  return createWebSocketStream(webSocket, { readableHighWaterMark: 64 * 1024 });
}
