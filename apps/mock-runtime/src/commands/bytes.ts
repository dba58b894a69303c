/*
 * Text is UTF-16 here, and a container's output bytes. A byte that is no character by itself travels in a text as a low
 * surrogate without its other half, which no real text contains (as Python's `surrogateescape` does).
 */

const base = 0xdc00;
const lone = /(?<![\ud800-\udbff])[\udc80-\udcff]+/g;

/** A byte of an escape sequence, `\342`, within a text. */
export const byteText = (byte: number): string => String.fromCharCode(byte < 0x80 ? byte : base + byte);

/** What the text is as output. */
export function toBytes(text: string): string | Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const { 0: run, index } of text.matchAll(lone)) {
    parts.push(Buffer.from(text.slice(end, index)), Buffer.from([...run].map((c) => c.charCodeAt(0) - base)));
    end = index + run.length;
  }
  return parts.length === 0 ? text : Buffer.concat([...parts, Buffer.from(text.slice(end))]);
}
