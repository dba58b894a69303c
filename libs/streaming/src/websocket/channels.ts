import { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';

/** v5 only: `[255, channel]` closes one channel's input. */
const closeChannel = 255;

export interface ChannelFormat {
  /** Text messages: a digit for the channel, then base64. Otherwise binary: a byte for the channel, then bytes. */
  base64: boolean;
  /** Channels can be half-closed by the client (v5). */
  closable: boolean;
}

/**
 * Several streams over one WebSocket, each message naming its channel. Source: k8s.io/apimachinery wsstream;
 * https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets
 */
export class WebSocketChannels {
  private readonly channels = new Map<number, Channel>();
  /** Channels whose readers have no room; while there are any, the socket is not read. */
  private readonly full = new Set<number>();

  constructor(
    private readonly webSocket: WebSocket,
    private readonly format: ChannelFormat,
  ) {
    webSocket.on('message', (data) => this.receive(data));
    webSocket.on('close', () => this.clientGone());
    // The close event follows every error.
    webSocket.on('error', () => webSocket.terminate());
  }

  channel(id: number): Duplex {
    const known = this.channels.get(id);
    if (known) return known;
    const channel = new Channel({
      send: (chunk, callback) => this.send(id, chunk, callback),
      wantsMore: () => {
        if (this.full.delete(id) && this.full.size === 0) this.webSocket.resume();
      },
    });
    channel.on('error', () => channel.destroy());
    this.channels.set(id, channel);
    return channel;
  }

  /** An empty message: tells the client that the stream is there. */
  announce(id: number): void {
    this.send(id, Buffer.alloc(0), () => undefined);
  }

  close(): void {
    this.webSocket.close(1000);
  }

  private send(id: number, chunk: Buffer, callback: (error?: Error | null) => void): void {
    if (this.webSocket.readyState !== this.webSocket.OPEN) {
      callback(new Error('the client has closed the connection'));
      return;
    }
    if (this.format.base64) this.webSocket.send(`${id}${chunk.toString('base64')}`, callback);
    else this.webSocket.send(Buffer.concat([Buffer.from([id]), chunk]), callback);
  }

  private receive(data: RawData): void {
    const message = toBuffer(data);
    if (message.length === 0) return;
    const first = message.readUInt8(0);
    if (this.format.closable && first === closeChannel) {
      this.channels.get(message.length > 1 ? message.readUInt8(1) : -1)?.push(null);
      return;
    }
    const id = this.format.base64 ? first - 0x30 : first;
    const payload = this.format.base64
      ? Buffer.from(message.toString('latin1', 1), 'base64')
      : message.subarray(1);
    const channel = this.channels.get(id);
    if (!channel || payload.length === 0 || channel.readableEnded || channel.destroyed) return;
    if (channel.push(payload)) return;
    this.full.add(id);
    this.webSocket.pause();
  }

  private clientGone(): void {
    for (const channel of this.channels.values()) {
      if (!channel.readableEnded && !channel.destroyed) channel.push(null);
    }
  }
}

interface ChannelCarrier {
  send(chunk: Buffer, callback: (error?: Error | null) => void): void;
  wantsMore(): void;
}

class Channel extends Duplex {
  constructor(private readonly carrier: ChannelCarrier) {
    super({ allowHalfOpen: true, highWaterMark: 64 * 1024 });
  }

  override _read(): void {
    this.carrier.wantsMore();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.carrier.send(chunk, callback);
  }
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
