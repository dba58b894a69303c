import type { X509Certificate } from 'node:crypto';
import { Duplex, type DuplexOptions } from 'node:stream';

/** What a server knows of its client. */
export interface LoopbackPeer {
  /** The client's certificate, if it has shown one. */
  readonly certificate: X509Certificate | undefined;
  /** Whether an authority that the server trusts has issued it. */
  readonly authorized: boolean;
}

type Done = (error?: Error | null) => void;

const highWaterMark = 64 * 1024;

/**
 * One end of a connection within this process. To HTTP it is a socket like any other: bytes in order, in a later turn of
 * the event loop, no faster than the other end reads them.
 */
export class LoopbackSocket extends Duplex {
  readonly localAddress = '127.0.0.1';
  readonly remoteAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  bytesRead = 0;
  bytesWritten = 0;
  private other: LoopbackSocket | undefined;
  /** The other end's write, which goes on when there is room here. */
  private waiting: Done | undefined;

  private constructor(
    options: DuplexOptions,
    readonly localPort: number | undefined,
    private readonly peer: LoopbackPeer | undefined,
  ) {
    super({ ...options, highWaterMark });
  }

  /** The two ends of a new connection to the server at `port`. */
  static connection(port: number, peer: LoopbackPeer): { client: LoopbackSocket; server: LoopbackSocket } {
    const client = new LoopbackSocket({ allowHalfOpen: false }, undefined, undefined);
    const server = new LoopbackSocket({ allowHalfOpen: true }, port, peer);
    client.other = server;
    server.other = client;
    return { client, server };
  }

  /** As a TLSSocket's. */
  get authorized(): boolean {
    return this.peer?.authorized ?? false;
  }

  /** As a TLSSocket's. */
  getPeerX509Certificate(): X509Certificate | undefined {
    return this.peer?.certificate;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.deliver([chunk], done);
  }

  override _writev(chunks: Array<{ chunk: Buffer }>, done: Done): void {
    this.deliver(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  private deliver(chunks: readonly Buffer[], done: Done): void {
    // Never within the call that writes: the other end may answer at once, while this one's parser is still at work.
    setImmediate(() => {
      const { other } = this;
      if (!other || other.destroyed) return done(brokenPipe());
      let hasRoom = true;
      for (const chunk of chunks) {
        this.bytesWritten += chunk.length;
        other.bytesRead += chunk.length;
        hasRoom = other.push(chunk);
      }
      if (hasRoom) done();
      else other.waiting = done;
    });
  }

  override _read(): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.();
  }

  override _final(done: Done): void {
    setImmediate(() => {
      if (this.other && !this.other.destroyed) this.other.push(null);
      done();
    });
  }

  override _destroy(error: Error | null, done: Done): void {
    const { other, waiting } = this;
    this.waiting = undefined;
    waiting?.(brokenPipe());
    // What it has sent arrives, then the end.
    setImmediate(() => {
      if (other && !other.destroyed) other.push(null);
    });
    done(error);
  }

  // Nothing that is delivered by function calls needs what TCP does.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

const brokenPipe = (): NodeJS.ErrnoException =>
  Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' });
