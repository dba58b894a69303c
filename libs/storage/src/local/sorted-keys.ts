/** Keys in order, in blocks, so that an insertion moves a few hundred entries at most however many there are. */
export class SortedKeys {
  private readonly blocks: string[][] = [];
  private static readonly blockSize = 512;

  add(key: string): void {
    const index = this.blockOf(key);
    const block = this.blocks[index];
    if (!block) {
      this.blocks.push([key]);
      return;
    }
    const at = lowerBound(block, key);
    if (block[at] === key) return;
    block.splice(at, 0, key);
    if (block.length > SortedKeys.blockSize)
      this.blocks.splice(index + 1, 0, block.splice(block.length >> 1));
  }

  delete(key: string): void {
    const index = this.blockOf(key);
    const block = this.blocks[index];
    if (!block) return;
    const at = lowerBound(block, key);
    if (block[at] !== key) return;
    block.splice(at, 1);
    if (block.length === 0) this.blocks.splice(index, 1);
  }

  /** Keys under `prefix` after `startAfter`, in order, at most `limit`. */
  slice(prefix: string, startAfter: string | undefined, limit: number): string[] {
    const found: string[] = [];
    let [blockIndex, at] = this.position(prefix, startAfter);
    for (; blockIndex < this.blocks.length && found.length < limit; blockIndex++, at = 0) {
      const block = this.blocks[blockIndex] ?? [];
      for (; at < block.length && found.length < limit; at++) {
        const key = block[at] ?? '';
        if (!key.startsWith(prefix)) return found;
        found.push(key);
      }
    }
    return found;
  }

  count(prefix: string, startAfter: string | undefined): number {
    const end = prefixEnd(prefix);
    const [fromBlock, from] = this.position(prefix, startAfter);
    const [toBlock, to] = end === undefined ? [this.blocks.length, 0] : this.position(end, undefined);
    if (fromBlock > toBlock) return 0;
    if (fromBlock === toBlock) return Math.max(0, to - from);
    let count = (this.blocks[fromBlock]?.length ?? 0) - from + to;
    for (let i = fromBlock + 1; i < toBlock; i++) count += this.blocks[i]?.length ?? 0;
    return count;
  }

  /** Where the first key >= `from` that is > `startAfter` stands, as block and index in it. */
  private position(from: string, startAfter: string | undefined): [block: number, index: number] {
    const afterStart = startAfter !== undefined && startAfter >= from;
    // '\0' appended gives the smallest string after startAfter.
    const bound = afterStart ? `${startAfter}\0` : from;
    const blockIndex = this.blockOf(bound);
    const at = lowerBound(this.blocks[blockIndex] ?? [], bound);
    return [blockIndex, at];
  }

  /** Index of the last block whose first key is <= `key`, or 0. */
  private blockOf(key: string): number {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.blocks[middle]?.[0] ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** The smallest string greater than every string with this prefix; undefined for the empty prefix. */
export function prefixEnd(prefix: string): string | undefined {
  if (prefix === '') return undefined;
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
