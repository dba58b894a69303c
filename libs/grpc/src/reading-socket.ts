import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A socket that takes every write at once: what can't go out waits in memory. Node's HTTP/2 reads nothing while a write
 * waits, so that two ends whose buffers are both full would wait for each other for ever.
 */
export class ReadingSocket extends Duplex {
  constructor(private readonly socket: Socket) {
    super();
    socket.on('data', (chunk) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, taken: () => void): void {
    this.socket.write(chunk);
    taken();
  }

  /** What HTTP/2 has to say at one time goes out in one system call. */
  override _writev(chunks: ReadonlyArray<{ chunk: Buffer }>, taken: () => void): void {
    this.socket.cork();
    for (const { chunk } of chunks) this.socket.write(chunk);
    this.socket.uncork();
    taken();
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}
