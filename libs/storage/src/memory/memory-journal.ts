import type { Journal } from '../local/journal';
import type { Change, ChangePage, DriverState, StoredVersion } from '../mvcc/driver';

/** History in an array; nothing outlives the process. */
export class MemoryJournal implements Journal {
  readonly name = 'memory';
  private changes: Change[] = [];

  async open(): Promise<DriverState> {
    return { revision: 1, compactRevision: 0 };
  }

  append(changes: Change[]): undefined {
    this.changes.push(...changes);
  }

  async readChanges(
    prefix: string,
    { after, upTo, limit }: { after: number; upTo: number; limit: number },
  ): Promise<ChangePage> {
    const found: Change[] = [];
    for (let i = this.indexAfter(after); i < this.changes.length; i++) {
      const change = this.changes[i];
      if (!change || change.revision > upTo) break;
      if (change.key.startsWith(prefix)) found.push(change);
      if (found.length === limit) return { changes: found, reached: change.revision };
    }
    return { changes: found, reached: upTo };
  }

  async compact(revision: number): Promise<void> {
    this.changes.splice(0, this.indexAfter(revision));
  }

  async load(_versions: StoredVersion[], _revision: number): Promise<void> {}

  async close(): Promise<void> {
    this.changes = [];
  }

  /** Index of the first change with a greater revision. */
  private indexAfter(revision: number): number {
    let low = 0;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
