import { RpcError } from './status';

/** A flag that says whether it is compressed, and its length. */
const headLength = 5;

/** The message as it goes over the wire. */
export function frameOf(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(headLength + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headLength);
  return frame;
}

/** Finds the messages in what comes, however it is cut. */
export class FrameReader {
  private parts: Buffer[] = [];
  private length = 0;

  constructor(private readonly longest: number) {}

  /** The messages that the chunk completes; throws an RpcError where one can't be taken. */
  push(chunk: Buffer): Buffer[] {
    this.parts.push(chunk);
    this.length += chunk.length;
    const messages: Buffer[] = [];
    if (this.length < headLength) return messages;
    let rest = this.parts.length === 1 ? chunk : this.joinedIfWhole();
    for (let size = sizeOf(rest, this.longest); size !== undefined; size = sizeOf(rest, this.longest)) {
      if (rest.length < headLength + size) break;
      messages.push(rest.subarray(headLength, headLength + size));
      rest = rest.subarray(headLength + size);
    }
    if (messages.length > 0 || this.parts.length === 1) this.keep(rest);
    return messages;
  }

  /** Whether a message has begun and not ended. */
  get isWithin(): boolean {
    return this.length > 0;
  }

  private keep(rest: Buffer): void {
    this.parts = rest.length > 0 ? [rest] : [];
    this.length = rest.length;
  }

  /** A large message's parts are joined once, when all are there. */
  private joinedIfWhole(): Buffer {
    const [first] = this.parts;
    const head =
      first && first.length >= headLength ? first : Buffer.concat(this.parts).subarray(0, headLength);
    const size = sizeOf(head, this.longest) ?? 0;
    return this.length < headLength + size ? head.subarray(0, headLength) : Buffer.concat(this.parts);
  }
}

/** Of the message at the beginning; undefined while its head isn't complete. */
function sizeOf(bytes: Buffer, longest: number): number | undefined {
  if (bytes.length < headLength) return undefined;
  if (bytes[0] !== 0)
    throw new RpcError('INTERNAL', 'a compressed message, though no compression was agreed on');
  const size = bytes.readUInt32BE(1);
  if (size > longest)
    throw new RpcError('RESOURCE_EXHAUSTED', `received message larger than max (${size} vs. ${longest})`);
  return size;
}
