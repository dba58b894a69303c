/** So many writes are remembered: whoever follows them has seen theirs long before. */
const maxTraces = 10_000;

interface TracedValue {
  value: Uint8Array;
  trace?: string | undefined;
}

/** The trace contexts of this process's writes, which etcd has no place for. */
export class WrittenTraces {
  private readonly written = new Map<string, string>();
  private readonly pending = new Map<string, TracedValue>();

  /** Runs a write. Until its revision is known, an event is recognized by what it wrote. */
  async during<T>(key: string, put: TracedValue | undefined, write: () => Promise<T>): Promise<T> {
    if (put?.trace === undefined) return write();
    this.pending.set(key, put);
    try {
      return await write();
    } finally {
      if (this.pending.get(key) === put) this.pending.delete(key);
    }
  }

  remember(key: string, revision: number, trace: string): void {
    this.written.set(`${revision} ${key}`, trace);
    const [oldest] = this.written.keys();
    if (this.written.size > maxTraces && oldest !== undefined) this.written.delete(oldest);
  }

  /** Of a version that somebody has read. */
  of(key: string, revision: number): string | undefined {
    return this.written.get(`${revision} ${key}`);
  }

  /** Of an event, which may overtake the answer to the write that it tells of. */
  ofEvent(key: string, { revision, value }: { revision: number; value: Uint8Array }): string | undefined {
    const known = this.of(key, revision);
    if (known !== undefined) return known;
    const pending = this.pending.get(key);
    return pending && Buffer.compare(pending.value, value) === 0 ? pending.trace : undefined;
  }
}
