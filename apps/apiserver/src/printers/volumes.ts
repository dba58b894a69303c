const short: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** `RWO,ROX`, in upstream's order. */
export function accessModesText(modes: readonly string[] | undefined): string {
  return Object.keys(short)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => short[mode])
    .join(',');
}
