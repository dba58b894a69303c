import { Duplex } from 'node:stream';
import { NetError, type Address } from '@tinkernetes/vnet';

/** Bytes that crossed an interface, for statistics. */
export interface ByteCounter {
  bytes: number;
}

export interface SocketEnds {
  local: Address;
  remote: Address;
}

/**
 * One end of an emulated TCP connection inside this process. It carries the address fields of `net.Socket`, so that
 * `node:http` and `node:tls` serve on it as on a real socket.
 */
export class VirtualSocket extends Duplex {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly remoteFamily = 'IPv4';
  private peer: VirtualSocket | undefined;
  private pending: (() => void) | undefined;

  private constructor(
    { local, remote }: SocketEnds,
    private readonly sent: ByteCounter,
  ) {
    super({ allowHalfOpen: true });
    this.localAddress = local.host;
    this.localPort = local.port;
    this.remoteAddress = remote.host;
    this.remotePort = remote.port;
  }

  /** The client's and the server's end of one connection. */
  static pair(client: SocketEnds, server: SocketEnds, counters?: { up: ByteCounter; down: ByteCounter }) {
    const a = new VirtualSocket(client, counters?.up ?? { bytes: 0 });
    const b = new VirtualSocket(server, counters?.down ?? { bytes: 0 });
    a.peer = b;
    b.peer = a;
    return [a, b] as const;
  }

  override _read(): void {
    const pending = this.pending;
    this.pending = undefined;
    pending?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const peer = this.peer;
    if (!peer || peer.destroyed) return done(new NetError('ECONNRESET', 'write'));
    this.sent.bytes += chunk.length;
    // The peer's next read takes the answer: that is the back-pressure of a full receive window.
    peer.pending = done;
    if (peer.push(chunk)) peer._read();
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.peer && !this.peer.destroyed) this.peer.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const peer = this.peer;
    this.peer = undefined;
    this._read();
    // As TCP closes: what was sent still arrives; unread input resets the connection.
    if (peer && !peer.destroyed) {
      if (this.readableLength > 0) peer.destroy(new NetError('ECONNRESET', 'read'));
      else peer.push(null);
    }
    done(error);
  }

  /** Socket options that have no meaning here. */
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }
}
