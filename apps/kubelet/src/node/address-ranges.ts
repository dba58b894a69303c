import { isIPv4 } from 'node:net';

interface Range {
  base: number;
  prefix: number;
}

/**
 * The same addresses in fewer ranges (CIDR notation, in order): two halves of one range are written as that range. The
 * ranges of a thousand light nodes, one beside the other, become a handful, which a runtime reads again for each Pod.
 * What is no IPv4 range stays as it is.
 */
export function mergeRanges(cidrs: readonly string[]): string[] {
  const others: string[] = [];
  const byPrefix = new Map<number, Set<number>>();
  const basesOf = (prefix: number) => {
    const bases = byPrefix.get(prefix) ?? new Set<number>();
    byPrefix.set(prefix, bases);
    return bases;
  };
  for (const cidr of cidrs) {
    const range = parse(cidr);
    if (range) basesOf(range.prefix).add(range.base);
    else if (!others.includes(cidr)) others.push(cidr);
  }
  for (let prefix = 32; prefix > 0; prefix--) {
    const bases = byPrefix.get(prefix) ?? [];
    const size = 2 ** (32 - prefix);
    for (const base of bases) {
      const isLower = base % (size * 2) === 0;
      if (!isLower || !basesOf(prefix).has(base + size)) continue;
      basesOf(prefix).delete(base);
      basesOf(prefix).delete(base + size);
      basesOf(prefix - 1).add(base);
    }
  }
  const merged = [...byPrefix].flatMap(([prefix, bases]) => [...bases].map((base) => ({ base, prefix })));
  return [...merged.sort((a, b) => a.base - b.base || a.prefix - b.prefix).map(format), ...others];
}

function parse(cidr: string): Range | undefined {
  const [address = '', length = ''] = cidr.split('/');
  const prefix = Number(length);
  if (!isIPv4(address) || !/^\d+$/.test(length) || prefix > 32) return undefined;
  const value = address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const size = 2 ** (32 - prefix);
  return { base: Math.floor(value / size) * size, prefix };
}

const format = ({ base, prefix }: Range): string =>
  `${[24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256).join('.')}/${prefix}`;
