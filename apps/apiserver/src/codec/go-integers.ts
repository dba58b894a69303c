// What Go's strconv says of texts that are no whole numbers of 64 bits; nothing when all is well.

export function uint64Problem(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return 'invalid syntax';
  return BigInt(text) < 2n ** 64n ? undefined : 'value out of range';
}

export function int64Problem(text: string): string | undefined {
  if (!/^[+-]?\d+$/.test(text)) return 'invalid syntax';
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? undefined : 'value out of range';
}
