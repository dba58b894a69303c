/** Runs work for the same key one after the other, in the order in which it was asked for. */
export class KeyedLock {
  private readonly last = new Map<string, Promise<void>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.last.set(key, settled);
    void settled.then(() => {
      if (this.last.get(key) === settled) this.last.delete(key);
    });
    return result;
  }
}
