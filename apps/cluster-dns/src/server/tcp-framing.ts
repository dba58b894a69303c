import type { Readable } from 'node:stream';

/** DNS messages over TCP: each behind its length in two bytes (RFC 1035, 4.2.2). */
export async function* tcpMessages(source: Readable): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    pending = Buffer.concat([pending, chunk as Buffer]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      yield pending.subarray(2, end);
      pending = pending.subarray(end);
    }
  }
}

export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}
