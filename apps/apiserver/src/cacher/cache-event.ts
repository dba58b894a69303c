import type { CacheEntry } from './cache-entry';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * One change of one object. Frames are made once per type and encoding and shared by all watchers that are told of it at
 * the same time.
 */
export class CacheEvent {
  private frames: Map<string, Buffer> | undefined;

  constructor(
    readonly type: ChangeType,
    readonly revision: number,
    /** The new state; for DELETED the last state under the deletion's revision. */
    readonly entry: CacheEntry,
    readonly previous: CacheEntry | undefined,
  ) {}

  /** The entry to show when the object left a watcher's selection: the last matching state, at this revision. */
  get leaving(): CacheEntry {
    return (this.leavingEntry ??=
      this.type === 'DELETED' ? this.entry : (this.previous ?? this.entry).deletedAt(this.revision));
  }
  private leavingEntry: CacheEntry | undefined;

  frame(key: string, make: () => Buffer): Buffer {
    const known = this.frames?.get(key);
    if (known) return known;
    const frame = make();
    (this.frames ??= new Map()).set(key, frame);
    return frame;
  }

  /** Whoever asks for frames later makes them again. */
  releaseFrames(): void {
    this.frames = undefined;
  }
}
