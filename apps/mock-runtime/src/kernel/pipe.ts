import { BrokenPipe, OpenFile } from './open-file';

/** Linux' default pipe capacity. */
const capacity = 65_536;

interface Reader {
  resolve(data: Buffer | undefined): void;
}

/** A pipe: bytes in order, a full one makes its writers wait, a closed read end breaks them. */
export class Pipe {
  readonly readEnd: OpenFile;
  readonly writeEnd: OpenFile;
  private buffered: Buffer[] = [];
  private size = 0;
  private reader: Reader | undefined;
  private writers: (() => void)[] = [];
  private ended = false;
  private broken = false;

  constructor() {
    this.readEnd = new OpenFile({
      read: (signal) => this.read(signal),
      close: () => this.breakOff(),
      path: 'pipe:',
    });
    this.writeEnd = new OpenFile({
      write: (data) => this.write(data),
      close: () => this.end(),
      path: 'pipe:',
    });
  }

  private read(signal?: AbortSignal): Promise<Buffer | undefined> {
    if (this.size > 0) {
      const data = this.buffered.length === 1 ? this.buffered[0] : Buffer.concat(this.buffered);
      this.buffered = [];
      this.size = 0;
      for (const wake of this.writers.splice(0)) wake();
      return Promise.resolve(data);
    }
    if (this.ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.reader = undefined;
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const previous = this.reader;
      this.reader = {
        resolve: (data) => {
          signal?.removeEventListener('abort', abort);
          resolve(data);
          // Two readers of one pipe: the first gets the data, the other goes on waiting.
          if (previous) this.reader = previous;
          if (previous && data === undefined) previous.resolve(undefined);
        },
      };
    });
  }

  private async write(data: Buffer): Promise<void> {
    if (this.broken) throw new BrokenPipe();
    if (data.length === 0) return;
    const reader = this.reader;
    if (reader) {
      this.reader = undefined;
      reader.resolve(data);
      return;
    }
    this.buffered.push(data);
    this.size += data.length;
    while (this.size >= capacity) {
      await new Promise<void>((resolve) => this.writers.push(resolve));
      if (this.broken) throw new BrokenPipe();
    }
  }

  private end(): void {
    this.ended = true;
    const reader = this.reader;
    this.reader = undefined;
    reader?.resolve(undefined);
  }

  private breakOff(): void {
    this.broken = true;
    this.buffered = [];
    this.size = 0;
    for (const wake of this.writers.splice(0)) wake();
  }
}
