/** What stands behind a file descriptor. */
export interface FileIO {
  /** The next bytes; undefined at the end. Rejects with the signal's reason when aborted. */
  read?(signal?: AbortSignal): Promise<Buffer | undefined>;
  /** Resolves when there is room for more. Rejects with BrokenPipe when nobody reads any more. */
  write?(data: Buffer): Promise<void> | void;
  close?(): void;
  readonly isTty?: boolean;
  /** Where it was opened, for messages. */
  readonly path?: string;
}

/** Writing where nobody reads: the writer gets SIGPIPE. */
export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';

  constructor() {
    super('Broken pipe');
  }
}

/** An open file description, shared by the descriptors and processes that inherited it; closed with the last one. */
export class OpenFile {
  private references = 1;
  private pushedBack: Buffer | undefined;

  constructor(private readonly io: FileIO) {}

  get isTty(): boolean {
    return this.io.isTty ?? false;
  }

  get path(): string | undefined {
    return this.io.path;
  }

  retain(): this {
    this.references += 1;
    return this;
  }

  release(): void {
    this.references -= 1;
    if (this.references === 0) this.io.close?.();
  }

  async read(signal?: AbortSignal): Promise<Buffer | undefined> {
    const kept = this.pushedBack;
    this.pushedBack = undefined;
    if (kept) return kept;
    signal?.throwIfAborted();
    return this.io.read?.(signal);
  }

  /** Gives back what was read too far. */
  unread(data: Buffer): void {
    if (data.length > 0) this.pushedBack = this.pushedBack ? Buffer.concat([data, this.pushedBack]) : data;
  }

  write(data: Buffer | string): Promise<void> | void {
    if (!this.io.write) throw new Error('Bad file descriptor');
    return this.io.write(typeof data === 'string' ? Buffer.from(data) : data);
  }

  /** Up to and including the delimiter; less at the end of the file; undefined when nothing is left. */
  async readLine(signal?: AbortSignal, delimiter = 10): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    for (;;) {
      const chunk = await this.read(signal);
      if (!chunk) return parts.length > 0 ? Buffer.concat(parts) : undefined;
      const at = chunk.indexOf(delimiter);
      if (at < 0) {
        parts.push(chunk);
        continue;
      }
      this.unread(chunk.subarray(at + 1));
      return Buffer.concat([...parts, chunk.subarray(0, at + 1)]);
    }
  }

  async readAll(signal?: AbortSignal): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (;;) {
      const chunk = await this.read(signal);
      if (!chunk) return Buffer.concat(parts);
      parts.push(chunk);
    }
  }
}

export const nullFile: FileIO = {
  read: () => Promise.resolve(undefined),
  write: () => undefined,
  path: '/dev/null',
};
