import { parseCidr, ipToBigInt } from '@tinkernetes/apimachinery';
import { UsageError, type Random } from '@tinkernetes/component-base';

/** The addresses of an IPv4 CIDR that Services may have: all but the network and broadcast address. */
export class IpRange {
  private readonly base: number;
  readonly size: number;

  constructor(readonly cidr: string) {
    const parsed = parseCidr(cidr);
    const base = parsed && ipToBigInt(parsed.address);
    if (!parsed || base === undefined || parsed.family !== 'IPv4' || parsed.bits > 30) {
      throw new UsageError(
        `--service-cluster-ip-range=${cidr}: must be an IPv4 CIDR of at most 30 bits, e.g. 10.96.0.0/12`,
      );
    }
    const span = 2 ** (32 - parsed.bits);
    this.base = Math.floor(Number(base) / span) * span;
    this.size = span - 2;
  }

  contains(address: string): boolean {
    const value = ipToBigInt(address);
    if (value === undefined) return false;
    const offset = Number(value) - this.base;
    return offset >= 1 && offset <= this.size;
  }

  /** The n-th usable address, from 0. */
  at(n: number): string {
    const value = this.base + 1 + n;
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
  }

  /**
   * Candidates in random order: first of the upper part, which is for dynamic allocation, then of the lower one, where
   * users pick theirs. Source: KEP-3070.
   */
  *candidates(random: Random): Iterable<string> {
    const reserved = Math.min(Math.max(16, Math.floor(this.size / 16)), 256);
    const lower = Math.min(reserved, this.size);
    yield* this.shuffled(lower, this.size, random);
    yield* this.shuffled(0, lower, random);
  }

  private *shuffled(from: number, to: number, random: Random): Iterable<string> {
    const count = to - from;
    const start = Math.floor(random.next() * count);
    for (let i = 0; i < count; i++) yield this.at(from + ((start + i) % count));
  }
}
