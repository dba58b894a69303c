import { execFileSync } from 'node:child_process';
import type { Stats } from 'node:fs';
import type { FileIO } from '../kernel/open-file';
import { BrokenPipe } from '../kernel/open-file';
import { FileError } from './file-error';
import type { OpenMode } from './open-path';

/** What a writer may be ahead of its readers. */
const capacity = 65_536;

/**
 * A named pipe. Opening one end waits for the other, as on Linux, at the first read or write; readers see the end when the
 * last writer has closed. Source: fifo(7).
 */
export class Fifo {
  private chunks: Buffer[] = [];
  private readers = 0;
  private writers = 0;
  /** How often somebody began to write, so that a reader knows whether there was one since it opened. */
  private written = 0;
  private waiting = new Set<() => void>();

  /** `readwrite`: both ends at once, which waits for nobody. */
  open(mode: OpenMode, path: string): FileIO {
    const reads = mode === 'read' || mode === 'readwrite';
    const writes = mode !== 'read';
    if (reads) this.readers += 1;
    if (writes) {
      this.writers += 1;
      this.written += 1;
    }
    const before = mode === 'read' && this.writers === 0 ? this.written : this.written - 1;
    this.wake();
    let isOpen = true;
    return {
      path,
      ...(reads ? { read: (signal?: AbortSignal) => this.read(before, signal) } : {}),
      ...(writes ? { write: (data: Buffer) => this.write(data, () => isOpen) } : {}),
      close: () => {
        isOpen = false;
        if (reads) this.readers -= 1;
        if (writes) this.writers -= 1;
        // What nobody took is lost with the last end.
        if (this.readers + this.writers === 0) this.chunks = [];
        this.wake();
      },
    };
  }

  private async read(before: number, signal?: AbortSignal): Promise<Buffer | undefined> {
    while (this.chunks.length === 0) {
      if (this.writers === 0 && this.written > before) return undefined;
      await this.change(signal);
    }
    const data = Buffer.concat(this.chunks);
    this.chunks = [];
    this.wake();
    return data;
  }

  /** A writer that was killed while it waited writes nothing any more. */
  private async write(data: Buffer, isOpen: () => boolean): Promise<void> {
    while (this.readers === 0 && isOpen()) await this.change();
    if (!isOpen()) return;
    this.chunks.push(data);
    this.wake();
    while (this.chunks.reduce((sum, { length }) => sum + length, 0) >= capacity) {
      await this.change();
      if (this.readers === 0) throw new BrokenPipe();
    }
  }

  private wake(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resume of waiting) resume();
  }

  private change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.waiting.delete(resume);
        reject(signal?.reason as Error);
      };
      const resume = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      if (signal?.aborted) return reject(signal.reason as Error);
      this.waiting.add(resume);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

/** Named pipes on the machine's disk, by device and inode: containers that mount the same volume meet in them. */
const onDisk = new Map<string, Fifo>();

/** The machine's own processes don't take part: opening theirs would stop the runtime until somebody answers. */
export function fifoOnDisk({ dev, ino }: Stats): Fifo {
  const key = `${dev}:${ino}`;
  let fifo = onDisk.get(key);
  if (!fifo) onDisk.set(key, (fifo = new Fifo()));
  return fifo;
}

/** Node has no call for it. */
export function makeFifoOnDisk(hostPath: string, path: string, mode: number): void {
  try {
    execFileSync('mkfifo', ['-m', mode.toString(8), '--', hostPath], { stdio: 'pipe', timeout: 5000 });
  } catch (error) {
    const text = String((error as { stderr?: Buffer }).stderr ?? '');
    const code = text.includes('exists') ? 'EEXIST' : text.includes('denied') ? 'EACCES' : 'EPERM';
    throw new FileError(code, path, { cause: error });
  }
}
