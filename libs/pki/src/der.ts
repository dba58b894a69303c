/**
 * Writing ASN.1's distinguished encoding, as far as certificates need it. Each function returns a whole element: tag,
 * length, content. Source: ITU-T X.690.
 */

const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export type Der = Buffer;

export function element(tag: number, ...content: readonly Uint8Array[]): Der {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(length)]), ...content]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...members: readonly Uint8Array[]): Der => element(tags.sequence, ...members);
export const setOf = (...members: readonly Uint8Array[]): Der => element(tags.set, ...members);
export const octetString = (content: Uint8Array): Der => element(tags.octetString, content);

/** `[number]` around whole elements. */
export const explicit = (number: number, ...members: readonly Uint8Array[]): Der =>
  element(0xa0 | number, ...members);

/** `[number]` in place of a primitive type's own tag. */
export const implicit = (number: number, content: Uint8Array): Der => element(0x80 | number, content);

/** Only when true: false is the default wherever certificates have a boolean, and defaults are left out. */
export const booleanTrue: Der = Buffer.from([0x01, 0x01, 0xff]);

export const derNull: Der = Buffer.from([0x05, 0x00]);

/** A number that is not negative, from its bytes, the highest first. */
export function unsignedInteger(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  const isNegative = (digits[0] ?? 0) >= 0x80;
  return element(tags.integer, ...(isNegative ? [Buffer.from([0])] : []), digits);
}

export const bitString = (content: Uint8Array, unusedBits = 0): Der =>
  element(tags.bitString, Buffer.from([unusedBits]), content);

/** A list of flags: zeros at its end are left out. */
export function namedBits(bits: ReadonlyArray<0 | 1>): Der {
  const used = bits.slice(0, bits.lastIndexOf(1) + 1);
  const bytes = Buffer.alloc(Math.ceil(used.length / 8));
  used.forEach((bit, i) => (bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (bit << (7 - (i % 8)))));
  return bitString(bytes, bytes.length * 8 - used.length);
}

export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(tags.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift(0x80 | (rest % 128));
  }
  return bytes;
}

/** A PrintableString where its few characters are enough, as Go and OpenSSL write names; else UTF-8. */
export function text(value: string): Der {
  const isPrintable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value);
  return element(isPrintable ? tags.printableString : tags.utf8String, Buffer.from(value, 'utf8'));
}

/** In whole seconds, with the two digits of a year that RFC 5280 wants until 2049. */
export function time(date: Date): Der {
  const digits = `${date.toISOString().replace(/\.\d+Z$|[-:T]/g, '')}Z`;
  return date.getUTCFullYear() < 2050
    ? element(tags.utcTime, Buffer.from(digits.slice(2)))
    : element(tags.generalizedTime, Buffer.from(digits));
}
