/** The messages of PostgreSQL's frontend/backend protocol 3.0 that a server and psql need for simple queries. */

export interface Message {
  /** '' for the first message of a connection, which has no type. */
  type: string;
  body: Buffer;
}

export const protocolVersion = 196_608;
export const sslRequest = 80_877_103;

export function encodeMessage(type: string, ...parts: readonly (string | number | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map(encodePart));
  const head = Buffer.alloc(type === '' ? 4 : 5);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, type === '' ? 0 : 1);
  return Buffer.concat([head, body]);
}

/** Text is ended by a zero byte, numbers have 32 bits. */
function encodePart(part: string | number | Buffer): Buffer {
  if (Buffer.isBuffer(part)) return part;
  if (typeof part === 'string') return Buffer.from(`${part}\0`);
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(part);
  return bytes;
}

export const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};

/** Messages out of a stream of bytes, as they become complete. */
export class MessageReader {
  private buffered = Buffer.alloc(0);

  constructor(private typed: boolean) {}

  /** What follows the start-up message has types. */
  expectTypes(): void {
    this.typed = true;
  }

  push(data: Buffer): void {
    this.buffered = Buffer.concat([this.buffered, data]);
  }

  /** Throws for what is no message; nothing after it can be read. */
  next(): Message | undefined {
    const head = this.typed ? 5 : 4;
    if (this.buffered.length < head) return undefined;
    const length = this.buffered.readInt32BE(head - 4);
    if (length < 4) throw new Error(`invalid message length ${length}`);
    const size = length + head - 4;
    if (this.buffered.length < size) return undefined;
    const message = {
      type: this.typed ? this.buffered.toString('latin1', 0, 1) : '',
      body: this.buffered.subarray(head, size),
    };
    this.buffered = this.buffered.subarray(size);
    return message;
  }
}

export const textsOf = (body: Buffer): string[] => body.toString().split('\0');
