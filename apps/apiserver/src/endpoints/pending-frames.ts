/** What is written at once: a slow client's socket holds no more than this, encrypted for it alone. */
const maxWriteBytes = 64 * 1024;

/** Frames that wait for one watcher's socket; shared with all others who wait for them. */
export class PendingFrames {
  private frames: Buffer[] = [];
  private waitingBytes = 0;

  get bytes(): number {
    return this.waitingBytes;
  }

  get isEmpty(): boolean {
    return this.frames.length === 0;
  }

  push(frame: Buffer): void {
    this.frames.push(frame);
    this.waitingBytes += frame.length;
  }

  /** The next frames as one write: one at least, and no more than a socket is to hold. */
  take(): Buffer {
    let count = 0;
    let size = 0;
    for (const { length } of this.frames) {
      if (count > 0 && size + length > maxWriteBytes) break;
      size += length;
      count++;
    }
    const taken = this.frames.slice(0, count);
    this.frames = count === this.frames.length ? [] : this.frames.slice(count);
    this.waitingBytes -= size;
    return join(taken);
  }

  /** All that waits; nothing does any more. */
  takeAll(): Buffer {
    const all = Buffer.concat(this.frames);
    this.clear();
    return all;
  }

  clear(): void {
    this.frames = [];
    this.waitingBytes = 0;
  }
}

let latest: { frames: readonly Buffer[]; joined: Buffer } = { frames: [], joined: Buffer.alloc(0) };

/** Watchers write one after the other, and most of them the same: the bytes are joined once for all of those. */
function join(frames: readonly Buffer[]): Buffer {
  const [first] = frames;
  if (first && frames.length === 1) return first;
  const { frames: known } = latest;
  if (known.length !== frames.length || !frames.every((frame, i) => frame === known[i]))
    latest = { frames, joined: Buffer.concat(frames) };
  return latest.joined;
}
