import type { Duplex } from 'node:stream';

/** More than this is left in the socket while the target thinks. */
const maxEarlyBytes = 64 * 1024;

/** Reads a client while its request is not answered yet: only so is it seen that the client has gone. */
export class EarlyReader {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private readonly leaving = new AbortController();

  constructor(private readonly socket: Duplex) {
    socket.on('data', this.onData).once('end', this.onGone).once('close', this.onGone);
  }

  /** Aborts when the client closes its connection. */
  get gone(): AbortSignal {
    return this.leaving.signal;
  }

  /** What was read. The socket is paused. */
  stop(): Buffer {
    this.socket.off('data', this.onData).off('end', this.onGone).off('close', this.onGone).pause();
    return Buffer.concat(this.chunks);
  }

  private readonly onData = (chunk: Buffer) => {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size > maxEarlyBytes) this.socket.pause();
  };

  private readonly onGone = () => this.leaving.abort(new Error('the client has closed the connection'));
}
