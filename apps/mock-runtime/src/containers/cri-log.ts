import { close, closeSync, mkdirSync, openSync, write } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Logger } from '@tinkernetes/component-base';
import { errorCode } from '../error-code';

export type LogStream = 'stdout' | 'stderr';

/** Longer lines are written in parts (tag P), as containerd does. */
const maxLine = 16 * 1024;

/**
 * A container's log file in CRI format: `<RFC 3339 nano> <stream> <P|F> <text>`. Lines that come in one turn of the
 * event loop are written together. Strings in here hold a byte a character: what programs print need not be text, and
 * characters may come in pieces.
 */
export class CriLog {
  /** Opened with the first line: most containers write none. */
  private fd: number | undefined;
  private queue: string[] = [];
  private readonly partial: Record<LogStream, string> = { stdout: '', stderr: '' };
  private writing: Promise<void> | undefined;
  private lastNanos = 0n;
  private failed = false;

  constructor(
    readonly path: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    closeSync(this.create());
  }

  append(stream: LogStream, data: Buffer): void {
    const lines = (this.partial[stream] + data.toString('latin1')).split('\n');
    this.partial[stream] = lines.pop() ?? '';
    for (const line of lines) this.addLine(stream, line);
    while (this.partial[stream].length >= maxLine) {
      this.add(stream, 'P', this.partial[stream].slice(0, maxLine));
      this.partial[stream] = this.partial[stream].slice(maxLine);
    }
    this.schedule();
  }

  /** After rotation: the next lines go to a new file of the same name (CRI ReopenContainerLog). */
  async reopen(): Promise<void> {
    await this.flush();
    if (this.fd !== undefined) close(this.fd);
    this.fd = this.create();
  }

  /** Writes what is left, also a line without its end (tag P, as containerd does), and closes the file. */
  async close(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.partial[stream] !== '') this.add(stream, 'P', this.partial[stream]);
      this.partial[stream] = '';
    }
    await this.flush();
    if (this.fd !== undefined) close(this.fd);
    this.fd = undefined;
  }

  async flush(): Promise<void> {
    this.schedule();
    while (this.writing) await this.writing;
  }

  private addLine(stream: LogStream, line: string): void {
    let rest = line;
    while (rest.length > maxLine) {
      this.add(stream, 'P', rest.slice(0, maxLine));
      rest = rest.slice(maxLine);
    }
    this.add(stream, 'F', rest);
  }

  private add(stream: LogStream, tag: 'P' | 'F', text: string): void {
    this.queue.push(`${this.timestamp()} ${stream} ${tag} ${text}\n`);
  }

  /** Nanoseconds that never repeat, so that "since" and sorting by time keep the order. */
  private timestamp(): string {
    const now = BigInt(Math.floor(this.clock.now() * 1000)) * 1000n;
    this.lastNanos = now > this.lastNanos ? now : this.lastNanos + 1n;
    const seconds = Number(this.lastNanos / 1_000_000_000n);
    const nanos = String(this.lastNanos % 1_000_000_000n).padStart(9, '0');
    return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${nanos}Z`;
  }

  private schedule(): void {
    if (this.queue.length === 0 || this.writing) return;
    this.writing = this.drain().finally(() => {
      this.writing = undefined;
    });
  }

  private async drain(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.queue.length > 0) {
      const text = this.queue.join('');
      this.queue = [];
      try {
        await this.write(text);
        this.failed = false;
      } catch (error) {
        if (!this.failed) this.logger.warn({ err: error, path: this.path }, 'container log not written');
        this.failed = true;
      }
    }
  }

  private async write(text: string): Promise<void> {
    const fd = (this.fd ??= this.create());
    await new Promise<void>((resolve, reject) => {
      write(fd, text, null, 'latin1', (error) => (error ? reject(error) : resolve()));
    });
  }

  private create(): number {
    try {
      return openSync(this.path, 'a', 0o640);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      mkdirSync(dirname(this.path), { recursive: true });
      return openSync(this.path, 'a', 0o640);
    }
  }
}
