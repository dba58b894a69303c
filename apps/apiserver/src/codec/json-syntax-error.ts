import { goEscapes } from '@tinkernetes/apimachinery';

/** Text that is not JSON; the message is worded as Go's encoding/json words it. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** As strconv.Quote would write it between single quotes. */
export function quoteChar(char: string): string {
  if (char === "'") return `'\\''`;
  if (char === '"') return `'"'`;
  const escape = goEscapes[char];
  if (escape) return `'${escape}'`;
  const code = firstByte(char);
  if (code < 32 || code === 127) return `'\\x${code.toString(16).padStart(2, '0')}'`;
  return `'${String.fromCharCode(code)}'`;
}

/** Go reads bytes: of a longer character it names the first, as if that were one. */
function firstByte(char: string): number {
  const code = char.charCodeAt(0);
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code >= 0xd800 && code < 0xe000 ? 0xf0 : 0xe0 | (code >> 12);
}
