import { Duplex } from 'node:stream';
import type { SpdyHeaders } from './header-codec';

/** What a stream needs of its connection. */
export interface StreamCarrier {
  sendData(streamId: number, chunk: Buffer, callback: (error?: Error | null) => void): void;
  sendFin(streamId: number, callback: (error?: Error | null) => void): void;
  reset(streamId: number): void;
}

/** One stream of a SPDY connection. Ending it closes our half only. */
export class SpdyStream extends Duplex {
  private makeRoom: (() => void) | undefined;
  private reset = false;

  constructor(
    readonly streamId: number,
    readonly headers: SpdyHeaders,
    private readonly carrier: StreamCarrier,
  ) {
    super({ allowHalfOpen: true, highWaterMark: 64 * 1024 });
    this.once('close', () => this.makeRoom?.());
  }

  /** Bytes from the peer; resolves when there is room for more. */
  receive(chunk: Buffer): Promise<void> {
    if (this.destroyed || this.readableEnded || this.push(chunk)) return Promise.resolve();
    return new Promise((resolve) => {
      this.makeRoom = resolve;
    });
  }

  /** The peer has closed its half. */
  receiveFin(): void {
    if (!this.destroyed) this.push(null);
  }

  /** The peer wants nothing more of this stream. */
  receiveReset(): void {
    this.reset = true;
    this.destroy();
  }

  override _read(): void {
    this.makeRoom?.();
    this.makeRoom = undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.carrier.sendData(this.streamId, chunk, callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.carrier.sendFin(this.streamId, callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const finished = this.readableEnded && this.writableFinished;
    if (!finished && !this.reset) this.carrier.reset(this.streamId);
    callback(error);
  }
}
