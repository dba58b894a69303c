/** A string as Go's `%q` writes it. */
export function goQuote(text: string): string {
  let quoted = '';
  for (const char of text) quoted += goEscapes[char] ?? escapeUnprintable(char);
  return `"${quoted}"`;
}

/** Characters that Go's strconv.Quote, and so CEL's strings.quote, writes with an escape of their own. */
export const goEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
  '\x07': '\\a',
};

function escapeUnprintable(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (/^[\p{C}\p{Z}]$/u.test(char) && char !== ' ') {
    return code > 0xffff
      ? `\\U${code.toString(16).padStart(8, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  }
  return char;
}
