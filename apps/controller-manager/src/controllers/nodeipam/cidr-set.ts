import { canonicalIp, ipToBigInt, parseCidr } from '@tinkernetes/apimachinery';
import { UsageError } from '@tinkernetes/component-base';

/** Upstream's limit: a set has 65,536 blocks at most. */
const maxIndexBits = 16;

export interface CidrSetObserver {
  allocated(triesBefore: number): void;
  released(): void;
}

/** Hands out equal blocks of a range, the lowest free one first. Source: k8s.io/kubernetes/pkg/controller/nodeipam/ipam/cidrset. */
export class CidrSet {
  private readonly used = new Set<number>();
  private readonly base: bigint;
  readonly capacity: number;
  /** How many bits of an address are a block's own. */
  private readonly blockBits: bigint;
  private readonly family: 'IPv4' | 'IPv6';
  private next = 0;

  /** Told of blocks that are given out, after how many tries, and given back. */
  observer: CidrSetObserver | undefined;

  /** Throws when the range is no CIDR, is smaller than one block, or has too many of them. */
  constructor(
    private readonly range: string,
    private readonly maskSize: number,
  ) {
    const { address, bits, family } = parsed(range);
    const width = family === 'IPv4' ? 32 : 128;
    if (bits > maskSize || maskSize > width)
      throw new UsageError(`--cluster-cidr=${range} is smaller than one node's range (/${maskSize})`);
    if (family === 'IPv6' && maskSize - bits > maxIndexBits)
      throw new UsageError(
        `--cluster-cidr=${range} with node ranges of /${maskSize}: must not differ by more than ${maxIndexBits} bits`,
      );
    this.family = family;
    this.blockBits = BigInt(width - maskSize);
    this.capacity = 2 ** (maskSize - bits);
    const hostBits = BigInt(width - bits);
    this.base = ((ipToBigInt(address) ?? 0n) >> hostBits) << hostBits;
  }

  /** undefined: all blocks are taken. */
  allocate(): string | undefined {
    for (let tried = 0; tried < this.capacity; tried++) {
      const index = (this.next + tried) % this.capacity;
      if (this.used.has(index)) continue;
      this.used.add(index);
      this.next = index + 1;
      this.observer?.allocated(tried);
      return this.block(index);
    }
    return undefined;
  }

  /** Marks all blocks that a range touches: a Node's that it has already, or that of Services. False: none of this set. */
  occupy(cidr: string): boolean {
    const touched = this.touched(cidr);
    for (const index of touched) this.used.add(index);
    return touched.length > 0;
  }

  release(cidr: string): void {
    for (const index of this.touched(cidr)) {
      if (this.used.delete(index)) this.observer?.released();
      this.next = Math.min(this.next, index);
    }
  }

  /** How many blocks are taken. */
  get taken(): number {
    return this.used.size;
  }

  toString(): string {
    return this.range;
  }

  private block(index: number): string {
    return `${addressOf(this.base + (BigInt(index) << this.blockBits), this.family)}/${this.maskSize}`;
  }

  private touched(cidr: string): number[] {
    const range = parseCidr(cidr);
    const value = range && ipToBigInt(range.address);
    if (!range || value === undefined || range.family !== this.family) return [];
    const hostBits = BigInt((this.family === 'IPv4' ? 32 : 128) - range.bits);
    const first = (value >> hostBits) << hostBits;
    const last = first + (1n << hostBits) - 1n;
    const end = this.base + (BigInt(this.capacity) << this.blockBits) - 1n;
    if (last < this.base || first > end) return [];
    const from = first < this.base ? 0 : Number((first - this.base) >> this.blockBits);
    const to = last > end ? this.capacity - 1 : Number((last - this.base) >> this.blockBits);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  }
}

function parsed(range: string) {
  const cidr = parseCidr(range);
  if (cidr) return cidr;
  throw new UsageError(
    `--cluster-cidr=${range}: must be an IPv4 or IPv6 range such as 10.244.0.0/16 or fd00:10:244::/56`,
  );
}

function addressOf(value: bigint, family: 'IPv4' | 'IPv6'): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (value >> BigInt(16 * (7 - i))) & 0xffffn);
  return canonicalIp(groups.map((group) => group.toString(16)).join(':'));
}
