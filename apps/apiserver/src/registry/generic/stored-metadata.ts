import type { MetadataPlace } from '../../cacher/cache-entry';

// Where metadata is in stored bytes, so that Tables and lists of metadata needn't parse what they only copy.

const quote = 0x22;
const backslash = 0x5c;
const opening = { brace: 0x7b, bracket: 0x5b };
const closing = { brace: 0x7d, bracket: 0x5d };

const metadataMark = '"metadata":';
const managersMark = ',"managedFields":[';

export const asBuffer = (value: Uint8Array): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);

/** Of an object as this server stores it: kind, apiVersion, metadata, the rest. */
export function metadataPlace(value: Uint8Array): MetadataPlace {
  const bytes = asBuffer(value);
  const start = bytes.indexOf(metadataMark) + metadataMark.length;
  const end = endOfValue(bytes, start);
  // In strings quotes have a backslash before them, and no other member of metadata has this name.
  const found = bytes.indexOf(managersMark, start);
  return { start, end, managers: found < 0 || found > end ? end - 1 : found };
}

/** Index behind the object that begins at `start`. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === opening.brace || byte === opening.bracket) depth++;
    else if (byte === closing.brace || byte === closing.bracket) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  throw new Error('stored object that does not end');
}

/** Index of the quote that ends the string which begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
