/** How the value of a field is written (https://protobuf.dev/programming-guides/encoding). */
export const wire = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const;

const initialSize = 4096;
/** A larger one is let go of after its message. */
const largestKept = 256 * 1024;
const twoTo32 = 4294967296;
/** Beyond this, one native call is cheaper than a turn for each character. */
const shortText = 24;

/**
 * Writes from the end to the beginning: when the head of a message is due, its length is known, and nothing is measured
 * or moved.
 */
export class BackwardWriter {
  private buffer = Buffer.allocUnsafeSlow(initialSize);
  private at = initialSize;

  /** How much has been written. */
  get length(): number {
    return this.buffer.length - this.at;
  }

  /** What has been written, as a buffer of its own; the writer is empty again. */
  take(): Buffer {
    const bytes = Buffer.from(this.buffer.subarray(this.at));
    this.clear();
    return bytes;
  }

  clear(): void {
    if (this.buffer.length > largestKept) this.buffer = Buffer.allocUnsafeSlow(initialSize);
    this.at = this.buffer.length;
  }

  tag(number: number, type: number): void {
    this.uint32(((number << 3) | type) >>> 0);
  }

  uint32(value: number): void {
    const length = value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    let at = this.reserve(length);
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.buffer[at++] = (rest & 0x7f) | 0x80;
    this.buffer[at] = rest;
  }

  /** In two's complement; beyond 2^53 as exact as a number is. */
  int64(value: number): void {
    if (value >= 0 && value < twoTo32) return this.uint32(value);
    const floor = Math.floor(value / twoTo32);
    let low = (value - floor * twoTo32) >>> 0;
    let high = floor >>> 0;
    let length = 0;
    while (high !== 0 || low > 0x7f) {
      scratch[length++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    scratch[length++] = low;
    const at = this.reserve(length);
    for (let i = 0; i < length; i++) this.buffer[at + i] = scratch[i] ?? 0;
  }

  double(value: number): void {
    const at = this.reserve(8);
    this.buffer.writeDoubleLE(value, at);
  }

  bytes(value: Uint8Array): void {
    const at = this.reserve(value.length);
    this.buffer.set(value, at);
    this.uint32(value.length);
  }

  text(value: string): void {
    if (value.length <= shortText && this.ascii(value)) return this.uint32(value.length);
    const length = Buffer.byteLength(value);
    const at = this.reserve(length);
    this.buffer.write(value, at, length, 'utf8');
    this.uint32(length);
  }

  /** False when it has other characters. */
  private ascii(value: string): boolean {
    const { length } = value;
    const at = this.reserve(length);
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) {
        this.at += length;
        return false;
      }
      this.buffer[at + i] = code;
    }
    return true;
  }

  /** Where so many bytes are to be written. */
  private reserve(size: number): number {
    if (this.at < size) {
      const old = this.buffer.subarray(this.at);
      const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, old.length + size));
      larger.set(old, larger.length - old.length);
      this.buffer = larger;
      this.at = larger.length - old.length;
    }
    return (this.at -= size);
  }
}

const scratch = new Uint8Array(10);

/** Reads a message; whatever reaches beyond its end is refused. */
export class Reader {
  private readonly buffer: Buffer;
  private high = 0;

  constructor(
    bytes: Uint8Array,
    private at = 0,
    private readonly end = bytes.length,
  ) {
    this.buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** The lower 32 bits of a varint. */
  uint32(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new RangeError('invalid varint: more than ten bytes');
  }

  /** As exact as a number is. */
  uint64(): number {
    const low = this.int64Low();
    return (this.high >>> 0) * twoTo32 + low;
  }

  int64(): number {
    const low = this.int64Low();
    return this.high * twoTo32 + low;
  }

  /** The lower half of a varint; leaves the upper one, signed, in `high`. */
  private int64Low(): number {
    let low = 0;
    this.high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift >= 32) this.high |= bits << (shift - 32);
      else if (shift === 28) this.high = bits >>> 4;
      if (byte < 0x80) return low >>> 0;
    }
    throw new RangeError('invalid varint: more than ten bytes');
  }

  double(): number {
    return this.buffer.readDoubleLE(this.take(8));
  }

  /** A copy: the message that it came in need not be kept. */
  bytes(): Buffer {
    const size = this.uint32();
    const at = this.take(size);
    return Buffer.from(this.buffer.subarray(at, at + size));
  }

  text(): string {
    const size = this.uint32();
    const at = this.take(size);
    return size === 0 ? '' : this.buffer.toString('utf8', at, at + size);
  }

  /** The part that a length before it says. */
  part(): Reader {
    const size = this.uint32();
    const at = this.take(size);
    return new Reader(this.buffer, at, at + size);
  }

  /** Passes a value over. */
  skip(type: number): void {
    if (type === wire.varint) this.uint32();
    else if (type === wire.fixed64) this.take(8);
    else if (type === wire.delimited) this.take(this.uint32());
    else if (type === wire.fixed32) this.take(4);
    else throw new RangeError(`invalid wire type ${type}`);
  }

  private byte(): number {
    return this.buffer[this.take(1)] ?? 0;
  }

  private take(size: number): number {
    const { at } = this;
    if (size > this.end - at) throw new RangeError(`index out of range: ${at} + ${size} > ${this.end}`);
    this.at = at + size;
    return at;
  }
}
