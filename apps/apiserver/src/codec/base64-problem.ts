/** What Go's decoder says of text that is not standard base64. */
export function base64Problem(text: string): string | undefined {
  const at = illegalBase64(text);
  return at >= 0 ? `illegal base64 data at input byte ${at}` : undefined;
}

/** Index of the first byte that standard base64 can't have there, -1 if none. */
function illegalBase64(text: string): number {
  const match = /^[A-Za-z0-9+/\r\n]*/.exec(text);
  const end = match?.[0].length ?? 0;
  const significant = text.slice(0, end).replace(/[\r\n]/g, '').length;
  const padding = text.slice(end);
  if (!/^=*$/.test(padding)) return end;
  // Nothing where padding should be: Go names the beginning of the group that is not whole.
  if (padding === '' && significant % 4 !== 0) return text.length - (significant % 4);
  const expected = (4 - (significant % 4)) % 4;
  if (expected === 3) return end;
  if (padding.length === expected) return -1;
  return padding.length < expected ? text.length : end + expected;
}
