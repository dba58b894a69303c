import type { Duplex } from 'node:stream';
import { HeaderCodec } from './header-codec';
import {
  controlFrame,
  dataHeader,
  flagFin,
  FrameParser,
  frameType,
  statusCancel,
  words,
  type Frame,
} from './frames';
import { SpdyStream, type StreamCarrier } from './spdy-stream';

/** Larger writes are cut, so that one stream does not keep the others waiting. */
const maxDataLength = 64 * 1024;
/** Stream id and priority of a SYN_STREAM stand before its header block. */
const synStreamHead = 10;

/**
 * The server's half of SPDY/3.1 as Kubernetes' clients speak it: their streams carry no `:method` or `:path`, and they
 * neither send WINDOW_UPDATE nor heed it. Flow control is therefore that of the socket below: it is not read while a
 * stream's reader has no room, and writes call back when the socket has taken them.
 */
export class SpdyConnection implements StreamCarrier {
  private readonly streams = new Map<number, SpdyStream>();
  private readonly codec = new HeaderCodec();
  private lastStreamId = 0;

  /** `onStream` is called for each stream the client opens, after it was accepted. */
  constructor(
    private readonly socket: Duplex,
    private readonly onStream: (stream: SpdyStream) => void,
  ) {}

  /** Serves until the socket closes; rejects when the client breaks the protocol or the connection breaks. */
  async run(): Promise<void> {
    const parser = new FrameParser();
    try {
      for await (const chunk of this.socket) {
        for (const frame of parser.push(chunk as Buffer)) await this.handle(frame);
      }
    } finally {
      for (const stream of this.streams.values()) stream.destroy();
      this.streams.clear();
      this.codec.close();
      this.socket.destroy();
    }
  }

  /** Says that no more streams are served, and closes once everything written has gone out. */
  close(): void {
    if (this.socket.destroyed || this.socket.writableEnded) return;
    this.socket.end(controlFrame(frameType.goAway, words(this.lastStreamId, 0)));
  }

  sendData(streamId: number, chunk: Buffer, callback: (error?: Error | null) => void): void {
    if (this.isClosed(callback)) return;
    for (let start = 0; start < chunk.length; start += maxDataLength) {
      const piece = chunk.subarray(start, start + maxDataLength);
      const last = start + maxDataLength >= chunk.length;
      this.socket.write(dataHeader(streamId, piece.length, false));
      if (last) this.socket.write(piece, callback);
      else this.socket.write(piece);
    }
    if (chunk.length === 0) callback();
  }

  sendFin(streamId: number, callback: (error?: Error | null) => void): void {
    if (!this.isClosed(callback)) this.socket.write(dataHeader(streamId, 0, true), callback);
  }

  reset(streamId: number): void {
    if (this.socket.destroyed || this.socket.writableEnded) return;
    this.socket.write(controlFrame(frameType.rstStream, words(streamId, statusCancel)));
  }

  private isClosed(callback: (error?: Error | null) => void): boolean {
    const closed = this.socket.destroyed || this.socket.writableEnded;
    if (closed) callback(new Error('the client has closed the connection'));
    return closed;
  }

  private async handle(frame: Frame): Promise<void> {
    if (frame.kind === 'data') {
      const stream = this.streams.get(frame.streamId);
      if (frame.payload.length > 0) await stream?.receive(frame.payload);
      if (frame.fin) stream?.receiveFin();
      return;
    }
    const { type, flags, payload } = frame;
    switch (type) {
      case frameType.synStream:
        return this.open(payload, flags);
      case frameType.headers:
        // Nothing in them is used, but the decompressor must see every block.
        await this.codec.decode(payload.subarray(4));
        return;
      case frameType.rstStream:
        this.streams.get(payload.readUInt32BE(0) & 0x7fffffff)?.receiveReset();
        return;
      case frameType.ping:
        this.socket.write(controlFrame(type, payload));
        return;
      default:
        // SETTINGS, WINDOW_UPDATE, GOAWAY: nothing to do; the socket's end follows the last one.
        return;
    }
  }

  private async open(payload: Buffer, flags: number): Promise<void> {
    const streamId = payload.readUInt32BE(0) & 0x7fffffff;
    const headers = await this.codec.decode(payload.subarray(synStreamHead));
    const reply = Buffer.concat([words(streamId), await this.codec.encode({})]);
    if (this.socket.destroyed || this.socket.writableEnded) return;
    this.socket.write(controlFrame(frameType.synReply, reply));
    const stream = new SpdyStream(streamId, headers, this);
    // A stream that breaks ends its reader and writer; nobody else needs to hear of it.
    stream.on('error', () => stream.destroy());
    stream.once('close', () => this.streams.delete(streamId));
    this.streams.set(streamId, stream);
    this.lastStreamId = Math.max(this.lastStreamId, streamId);
    if ((flags & flagFin) !== 0) stream.receiveFin();
    this.onStream(stream);
  }
}
