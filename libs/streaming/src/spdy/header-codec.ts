import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { headerDictionary } from './dictionary';

/** Names in lower case. */
export type SpdyHeaders = Record<string, string>;

/** A header block is small; its whole output must fit, as it is read only when the block is through. */
const outputLimit = 1 << 20;

/**
 * Compresses and decompresses header blocks. All blocks of a direction share one zlib stream, so calls must be made in
 * the order of the frames, one at a time.
 */
export class HeaderCodec {
  private readonly deflate: Deflate;
  private readonly inflate: Inflate;

  constructor() {
    const options = {
      dictionary: headerDictionary(),
      flush: constants.Z_SYNC_FLUSH,
      finishFlush: constants.Z_SYNC_FLUSH,
      readableHighWaterMark: outputLimit,
    };
    this.deflate = createDeflate(options);
    this.inflate = createInflate(options);
  }

  async encode(headers: SpdyHeaders): Promise<Buffer> {
    return pass(this.deflate, encodePairs(headers));
  }

  async decode(block: Buffer): Promise<SpdyHeaders> {
    return decodePairs(await pass(this.inflate, block));
  }

  close(): void {
    this.deflate.close();
    this.inflate.close();
  }
}

function pass(zlib: Deflate | Inflate, input: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zlib.once('error', reject);
    zlib.write(input, (error) => {
      zlib.off('error', reject);
      if (error) return reject(error);
      const output: Buffer[] = [];
      for (let chunk = zlib.read() as Buffer | null; chunk; chunk = zlib.read() as Buffer | null)
        output.push(chunk);
      resolve(Buffer.concat(output));
    });
  });
}

function encodePairs(headers: SpdyHeaders): Buffer {
  const entries = Object.entries(headers);
  return Buffer.concat([
    uint32(entries.length),
    ...entries.flatMap(([name, value]) => [...lengthPrefixed(name.toLowerCase()), ...lengthPrefixed(value)]),
  ]);
}

function decodePairs(block: Buffer): SpdyHeaders {
  const headers: SpdyHeaders = {};
  let offset = 4;
  const text = (): string => {
    const start = offset + 4;
    offset = start + block.readUInt32BE(offset);
    if (offset > block.length) throw new Error('SPDY header block is cut off');
    return block.toString('utf8', start, offset);
  };
  for (let count = block.readUInt32BE(0); count > 0; count--) {
    const name = text();
    headers[name.toLowerCase()] = text();
  }
  return headers;
}

function lengthPrefixed(text: string): [Buffer, Buffer] {
  const bytes = Buffer.from(text, 'utf8');
  return [uint32(bytes.length), bytes];
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}
