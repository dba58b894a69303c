import type { Duplex } from 'node:stream';
import { controlFrame, dataHeader, FrameParser, frameType, words } from './frames';
import { HeaderCodec, type SpdyHeaders } from './header-codec';

/** The client's half of SPDY as kubectl speaks it, for tests: collects what each stream receives. */
export class SpdyTestClient {
  private readonly codec = new HeaderCodec();
  private readonly received = new Map<number, Buffer[]>();
  private readonly finished = new Set<number>();
  readonly replies: number[] = [];
  readonly resets: number[] = [];
  pings = 0;
  goneAway = false;
  private nextId = 1;
  readonly closed: Promise<void>;

  constructor(private readonly socket: Duplex) {
    this.closed = this.read();
  }

  async open(headers: SpdyHeaders): Promise<number> {
    const id = this.nextId;
    this.nextId += 2;
    const block = await this.codec.encode(headers);
    this.socket.write(
      controlFrame(frameType.synStream, Buffer.concat([words(id, 0), Buffer.from([0, 0]), block])),
    );
    return id;
  }

  write(id: number, data: string | Buffer, fin = false): void {
    const bytes = Buffer.from(data as string);
    this.socket.write(Buffer.concat([dataHeader(id, bytes.length, fin), bytes]));
  }

  ping(id: number): void {
    this.socket.write(controlFrame(frameType.ping, words(id)));
  }

  reset(id: number): void {
    this.socket.write(controlFrame(frameType.rstStream, words(id, 5)));
  }

  text(id: number): string {
    return Buffer.concat(this.received.get(id) ?? []).toString();
  }

  hasFinished(id: number): boolean {
    return this.finished.has(id);
  }

  close(): void {
    this.socket.destroy();
  }

  private async read(): Promise<void> {
    const parser = new FrameParser();
    try {
      for await (const chunk of this.socket) {
        for (const frame of parser.push(chunk as Buffer)) {
          if (frame.kind === 'data') {
            const pieces = this.received.get(frame.streamId) ?? [];
            this.received.set(frame.streamId, [...pieces, frame.payload]);
            if (frame.fin) this.finished.add(frame.streamId);
          } else if (frame.type === frameType.synReply) {
            await this.codec.decode(frame.payload.subarray(4));
            this.replies.push(frame.payload.readUInt32BE(0));
          } else if (frame.type === frameType.rstStream) this.resets.push(frame.payload.readUInt32BE(0));
          else if (frame.type === frameType.ping) this.pings++;
          else if (frame.type === frameType.goAway) this.goneAway = true;
        }
      }
    } catch (error) {
      if (!this.socket.destroyed) throw error;
    } finally {
      this.codec.close();
    }
  }
}
