/** Hands out equal blocks of an IPv4 range, the lowest free one first. Source: k8s.io/kubernetes/pkg/controller/nodeipam. */
export class CidrSet {
  private readonly used = new Set<number>();
  private readonly base: number;
  private readonly capacity: number;
  private readonly blockSize: number;
  private next = 0;

  /** Throws when the range is no IPv4 CIDR or smaller than one block. */
  constructor(
    range: string,
    private readonly maskSize: number,
  ) {
    const [address = '', bits = ''] = range.split('/');
    const prefix = Number(bits);
    const octets = address.split('.').map(Number);
    if (
      octets.length !== 4 ||
      octets.some((o) => !(o >= 0 && o <= 255)) ||
      !/^\d{1,2}$/.test(bits) ||
      prefix > 32
    ) {
      throw new Error(`invalid cluster CIDR ${range}: must be an IPv4 range such as 10.244.0.0/16`);
    }
    if (prefix > maskSize)
      throw new Error(`cluster CIDR ${range} is smaller than one node's range (/${maskSize})`);
    this.blockSize = 2 ** (32 - maskSize);
    this.capacity = 2 ** (maskSize - prefix);
    const value = octets.reduce((sum, o) => sum * 256 + o, 0);
    this.base = value - (value % 2 ** (32 - prefix));
  }

  /** undefined: all blocks are taken. */
  allocate(): string | undefined {
    for (let tried = 0; tried < this.capacity; tried++) {
      const index = (this.next + tried) % this.capacity;
      if (this.used.has(index)) continue;
      this.used.add(index);
      this.next = index + 1;
      return this.block(index);
    }
    return undefined;
  }

  /** Marks a block that a Node has already. Ranges that are not of this set are ignored. */
  occupy(cidr: string): void {
    const index = this.indexOf(cidr);
    if (index !== undefined) this.used.add(index);
  }

  release(cidr: string): void {
    const index = this.indexOf(cidr);
    if (index === undefined) return;
    this.used.delete(index);
    this.next = Math.min(this.next, index);
  }

  private block(index: number): string {
    const value = this.base + index * this.blockSize;
    return `${[24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')}/${this.maskSize}`;
  }

  private indexOf(cidr: string): number | undefined {
    const [address = '', bits = ''] = cidr.split('/');
    if (Number(bits) !== this.maskSize) return undefined;
    const value = address.split('.').reduce((sum, o) => sum * 256 + Number(o), 0);
    const index = (value - this.base) / this.blockSize;
    return Number.isInteger(index) && index >= 0 && index < this.capacity ? index : undefined;
  }
}
