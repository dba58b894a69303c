import type { Duplex } from 'node:stream';
import { closeOf } from '../remote-command/session';
import { SpdyConnection } from '../spdy/spdy-connection';
import type { SpdyStream } from '../spdy/spdy-stream';
import type { PortForwardHandler } from '../types';
import { connectPort } from './connect';

interface Pair {
  error?: SpdyStream;
  data?: SpdyStream;
}

/**
 * Port-forward over SPDY: for each connection the client opens an error and a data stream with the same `requestID`.
 * Resolves when the connection is closed.
 */
export async function serveSpdyPortForward(socket: Duplex, handler: PortForwardHandler): Promise<void> {
  const pairs = new Map<string, Pair>();
  const gone = new AbortController();
  const closed = closeOf(socket).then(() => gone.abort(new Error('the client has closed the connection')));
  const connection = new SpdyConnection(socket, (stream) => {
    const { streamtype, port, requestid } = stream.headers;
    const portNumber = Number(port);
    if ((streamtype !== 'error' && streamtype !== 'data') || !Number.isInteger(portNumber)) {
      stream.destroy();
      return;
    }
    // Clients older than requestID open the error stream right before its data stream.
    const id = requestid ?? String(streamtype === 'error' ? stream.streamId : stream.streamId - 2);
    const pair = pairs.get(id) ?? {};
    pair[streamtype] = stream;
    pairs.set(id, pair);
    const { error, data } = pair;
    if (!error || !data) return;
    pairs.delete(id);
    error.resume();
    void connectPort({ port: portNumber, data, error, signal: gone.signal, handler });
  });
  // A broken connection is seen as its close.
  await connection.run().catch(() => socket.destroy());
  await closed;
}
