/**
 * Cuts a byte stream into lines. Pieces of an unfinished line are kept as they came and joined once, when its end
 * arrives: a line of n chunks costs O(bytes), not O(n × bytes).
 */
export class LineSplitter {
  private pending: Buffer[] = [];

  /** The lines that `chunk` completes, without their line feeds; empty lines are left out. */
  *push(chunk: Buffer): Iterable<string> {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = this.take(chunk.subarray(start, end));
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) this.pending.push(chunk.subarray(start));
  }

  /** What came after the last line feed. */
  end(): string {
    return this.take(Buffer.alloc(0));
  }

  private take(last: Buffer): string {
    if (this.pending.length === 0) return last.toString('utf8');
    const line = Buffer.concat([...this.pending, last]).toString('utf8');
    this.pending = [];
    return line;
  }
}
