/** One element of ASN.1's distinguished encoding. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly whole: Buffer;
}

export class DerError extends Error {}

const sequenceTag = 0x30;
export const setTag = 0x31;

/** The element that `bytes` are, all of them. Throws DerError for anything else. */
export function readElement(bytes: Buffer): DerElement {
  const element = elementAt(bytes, 0);
  if (element.whole.length !== bytes.length) throw new DerError('trailing data');
  return element;
}

/** The elements that a structure is made of: a sequence, or what `tag` says. */
export function members(element: DerElement, tag = sequenceTag): DerElement[] {
  if (element.tag !== tag) throw new DerError(`tag ${element.tag} where ${tag} belongs`);
  const found: DerElement[] = [];
  for (let at = 0; at < element.content.length;) {
    const member = elementAt(element.content, at);
    found.push(member);
    at += member.whole.length;
  }
  return found;
}

/** The member at `index`. Throws DerError where there is none, or one of another `tag`. */
export function memberAt(all: readonly DerElement[], index: number, tag?: number): DerElement {
  const member = all[index];
  if (!member) throw new DerError('a member is missing');
  if (tag !== undefined && member.tag !== tag) throw new DerError(`tag ${member.tag} where ${tag} belongs`);
  return member;
}

function elementAt(bytes: Buffer, start: number): DerElement {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined) throw new DerError('truncated');
  // Certificates have no tag numbers beyond 30, which would take more bytes.
  if ((tag & 0x1f) === 0x1f) throw new DerError('unknown tag');
  const lengthSize = first < 0x80 ? 0 : first & 0x7f;
  // DER knows neither indefinite lengths nor more than it needs; four bytes are 4 GiB.
  if (first === 0x80 || lengthSize > 4 || start + 2 + lengthSize > bytes.length)
    throw new DerError('bad length');
  const length = lengthSize === 0 ? first : bytes.readUIntBE(start + 2, lengthSize);
  const shortest = length < 0x80 ? 0 : Math.ceil((32 - Math.clz32(length)) / 8);
  if (lengthSize !== shortest) throw new DerError('bad length');
  const contentStart = start + 2 + lengthSize;
  const end = contentStart + length;
  if (end > bytes.length) throw new DerError('truncated');
  return { tag, content: bytes.subarray(contentStart, end), whole: bytes.subarray(start, end) };
}

export function readObjectIdentifier({ tag, content }: DerElement): string {
  if (tag !== 0x06 || content.length === 0) throw new DerError('an object identifier is missing');
  const numbers: number[] = [];
  let value = 0;
  if ((content.at(-1) ?? 0) >= 0x80) throw new DerError('an object identifier that does not end');
  for (const byte of content) {
    // A number that begins with zeros would be the same in another encoding.
    if (byte === 0x80 && value === 0) throw new DerError('an object identifier with needless zeros');
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  const [head = 0, ...rest] = numbers;
  const first = Math.min(2, Math.floor(head / 40));
  return [first, head - first * 40, ...rest].join('.');
}

/** The bits of a string that are whole bytes, as keys and signatures are. */
export function readBitString({ tag, content }: DerElement): Buffer {
  if (tag !== 0x03 || content[0] !== 0) throw new DerError('a bit string of whole bytes is missing');
  return content.subarray(1);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A name's text, in the types that Go's crypto/x509 takes. Throws DerError for any other: whoever reads the name again
 * might take it for another text.
 */
export function readText({ tag, content }: DerElement): string {
  switch (tag) {
    case 0x0c: // UTF8String
      return readUTF8(content);
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
      return readASCII(content);
    case 0x14: // TeletexString
      return content.toString('latin1');
    case 0x1e: // BMPString
      if (content.length % 2 !== 0) throw new DerError('half a character');
      return Buffer.from(content).swap16().toString('utf16le');
    default:
      throw new DerError(`unknown type of text ${tag}`);
  }
}

function readUTF8(content: Buffer): string {
  try {
    return utf8.decode(content);
  } catch (error) {
    throw new DerError('invalid UTF-8', { cause: error });
  }
}

export function readASCII(content: Buffer): string {
  if (content.some((byte) => byte >= 0x80)) throw new DerError('a character beyond ASCII');
  return content.toString('latin1');
}
