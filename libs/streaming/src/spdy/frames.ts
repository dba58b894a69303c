/** Frame types and layout of SPDY/3.1, as far as Kubernetes' clients use them (SPDY draft 3.1, section 2.2). */
export const frameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const flagFin = 0x01;
/** RST_STREAM status CANCEL: the sender no longer wants the stream. */
export const statusCancel = 5;

export type Frame =
  | { kind: 'data'; streamId: number; fin: boolean; payload: Buffer }
  | { kind: 'control'; type: number; flags: number; payload: Buffer };

const headerLength = 8;
const version = 3;

/** Cuts a byte stream into frames. Pieces of an unfinished frame are joined once, when its last byte has come. */
export class FrameParser {
  private pending: Buffer[] = [];
  private size = 0;
  /** Bytes that must be there before there is anything to do. */
  private needed = headerLength;

  *push(chunk: Buffer): Iterable<Frame> {
    this.pending.push(chunk);
    this.size += chunk.length;
    while (this.size >= this.needed) {
      const bytes = this.pending.length === 1 ? chunk : Buffer.concat(this.pending);
      this.pending = [bytes];
      const length = headerLength + bytes.readUIntBE(5, 3);
      if (bytes.length < length) {
        this.needed = length;
        return;
      }
      chunk = bytes.subarray(length);
      this.pending = [chunk];
      this.size = chunk.length;
      this.needed = headerLength;
      yield decode(bytes.subarray(0, length));
    }
  }
}

function decode(frame: Buffer): Frame {
  const first = frame.readUInt32BE(0);
  const flags = frame.readUInt8(4);
  const payload = frame.subarray(headerLength);
  if (first >>> 31 === 0) {
    return { kind: 'data', streamId: first & 0x7fffffff, fin: (flags & flagFin) !== 0, payload };
  }
  if (((first >>> 16) & 0x7fff) !== version) throw new Error('not SPDY/3.1');
  return { kind: 'control', type: first & 0xffff, flags, payload };
}

/** The 8 bytes before a data frame's payload. */
export function dataHeader(streamId: number, length: number, fin: boolean): Buffer {
  const head = Buffer.alloc(headerLength);
  head.writeUInt32BE(streamId & 0x7fffffff, 0);
  head.writeUInt8(fin ? flagFin : 0, 4);
  head.writeUIntBE(length, 5, 3);
  return head;
}

export function controlFrame(type: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(headerLength);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt8(flags, 4);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

/** Payload of 32-bit numbers. */
export function words(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => buffer.writeUInt32BE(value >>> 0, i * 4));
  return buffer;
}
