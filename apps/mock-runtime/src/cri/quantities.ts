const binary: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  '': 1,
};

/** A CPU quantity (`250m`, `1.5`) in nano cores. */
export function parseCpu(text: string | undefined): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([num]?)$/.exec(text ?? '');
  if (!match) return undefined;
  const unit = { n: 1, u: 1e3, m: 1e6, '': 1e9 }[match[2] ?? ''] ?? 1e9;
  return Number(match[1]) * unit;
}

/** A memory quantity (`64Mi`) in bytes. */
export function parseMemory(text: string | undefined): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|k|M|G)?$/.exec(text ?? '');
  return match ? Number(match[1]) * (binary[match[2] ?? ''] ?? 1) : undefined;
}
