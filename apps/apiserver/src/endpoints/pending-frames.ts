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

  /** The next frames as one chunk of HTTP: one at least, and no more than a socket is to hold. */
  take(): Chunk {
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
    return chunkOf(taken, size);
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

/** Frames as a chunk of HTTP's chunked encoding. Source: RFC 9112, 7.1. */
export interface Chunk {
  /** With the chunk's size before them. */
  framed: Buffer;
  /** The frames alone, for an answer that isn't chunked. */
  content: Buffer;
}

interface SharedChunk extends Chunk {
  frames: readonly Buffer[];
}

/** As many as there are usually encodings and selections. */
const sharedChunks = 4;
const shared: SharedChunk[] = [];

/** Watchers write one after the other, and most of them the same: the bytes are put together once for all of those. */
function chunkOf(frames: readonly Buffer[], size: number): Chunk {
  const known = shared.find((chunk) => isSame(chunk.frames, frames));
  if (known) return known;
  const head = Buffer.from(`${size.toString(16)}\r\n`);
  const framed = Buffer.concat([head, ...frames, chunkEnd], head.length + size + chunkEnd.length);
  const chunk = { frames, framed, content: framed.subarray(head.length, head.length + size) };
  shared.unshift(chunk);
  if (shared.length > sharedChunks) shared.pop();
  return chunk;
}

const chunkEnd = Buffer.from('\r\n');

const isSame = (a: readonly Buffer[], b: readonly Buffer[]): boolean =>
  a.length === b.length && a.every((frame, i) => frame === b[i]);
