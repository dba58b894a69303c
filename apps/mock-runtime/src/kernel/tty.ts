import type { FileIO } from './open-file';
import type { ProcessTable } from './process-table';
import type { SignalName } from './signals';

const control = { interrupt: 3, endOfFile: 4, backspace: 8, killLine: 21, quit: 28, delete: 127 } as const;

export interface TtyOptions {
  /** To the terminal: what programs write and what is echoed. */
  output(data: Buffer): Promise<void> | void;
  table: ProcessTable;
}

/** A pseudo terminal with Linux' line discipline: echo, line editing, Ctrl-C, `\n` written as `\r\n`. */
export class Tty {
  width = 80;
  height = 24;
  /** `stty -echo` switches it off. */
  echoes = true;
  private line: number[] = [];
  private lines: (Buffer | undefined)[] = [];
  private waiting: ((line: Buffer | undefined) => void) | undefined;
  private hungUp = false;

  constructor(private readonly options: TtyOptions) {}

  /** The device as programs open it. */
  readonly io: FileIO = {
    isTty: true,
    path: '/dev/pts/0',
    read: (signal) => this.read(signal),
    write: (data) => this.options.output(withCarriageReturns(data)),
  };

  /** Keys from the terminal. */
  input(data: Buffer): void {
    for (const key of data) this.key(key);
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.signal('SIGWINCH');
  }

  /** The terminal has gone: reads end. */
  hangUp(): void {
    this.hungUp = true;
    this.deliver(undefined);
  }

  private key(key: number): void {
    switch (key) {
      case control.interrupt:
        this.line = [];
        this.echo('^C\n');
        this.signal('SIGINT');
        return;
      case control.quit:
        this.echo('^\\\n');
        this.signal('SIGQUIT');
        return;
      case control.endOfFile:
        this.deliver(this.line.length > 0 ? this.takeLine() : undefined);
        return;
      case control.backspace:
      case control.delete:
        if (this.line.pop() !== undefined) this.echo('\b \b');
        return;
      case control.killLine:
        this.echo('\b \b'.repeat(this.line.length));
        this.line = [];
        return;
      case 13:
      case 10:
        this.line.push(10);
        this.echo('\n');
        this.deliver(this.takeLine());
        return;
      default:
        this.line.push(key);
        this.echo(Buffer.from([key]));
    }
  }

  private takeLine(): Buffer {
    const line = Buffer.from(this.line);
    this.line = [];
    return line;
  }

  private deliver(line: Buffer | undefined): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    if (waiting) waiting(line);
    else this.lines.push(line);
  }

  private read(signal?: AbortSignal): Promise<Buffer | undefined> {
    if (this.lines.length > 0) return Promise.resolve(this.lines.shift());
    if (this.hungUp) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.waiting = undefined;
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.waiting = (line) => {
        signal?.removeEventListener('abort', abort);
        resolve(line);
      };
    });
  }

  private signal(name: SignalName): void {
    for (const process of this.options.table.list())
      if (process.tty === this && !process.background) process.kill(name);
  }

  private echo(text: string | Buffer): void {
    if (this.echoes) void this.options.output(withCarriageReturns(Buffer.from(text)));
  }
}

function withCarriageReturns(data: Buffer): Buffer {
  if (!data.includes(10)) return data;
  return Buffer.from(data.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1');
}
