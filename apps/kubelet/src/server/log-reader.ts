import type { Clock } from '@tinkernetes/component-base';
import { watch } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ignoreMissing } from '../volumes/atomic-writer';

export interface LogOptions {
  follow: boolean;
  timestamps: boolean;
  tailLines: number | undefined;
  limitBytes: number | undefined;
  /** Epoch milliseconds. */
  since: number | undefined;
  stream: 'stdout' | 'stderr' | undefined;
  isRunning(): Promise<boolean>;
  clock: Clock;
  signal: AbortSignal;
}

const chunkSize = 64 * 1024;
/** While following and nothing is written, whether the container still runs is asked this often. */
const idleCheckMs = 1000;

/**
 * A container's log from its file in CRI log format, and on as it is written, until the container ends. Files that were
 * rotated away are read first as far as they are needed. Source: pkg/kubelet/kuberuntime/logs; KEP-1753 CRI logging.
 */
export async function* readLogs(path: string, options: LogOptions): AsyncGenerator<Buffer> {
  const output = new LogOutput(options);
  const files = [...(await rotatedFiles(path)), path];
  const start = await startPosition(files, options.tailLines);
  for (const file of files.slice(start.index, -1)) {
    yield* output.read(file, file === files[start.index] ? start.offset : 0);
    if (output.full) return;
  }
  const offset = start.index === files.length - 1 ? start.offset : 0;
  yield* followFile(path, offset, { ...options, output });
}

async function* followFile(
  path: string,
  offset: number,
  { follow, isRunning, clock, signal, output }: LogOptions & { output: LogOutput },
): AsyncGenerator<Buffer> {
  const changes = follow ? new Changes(path, clock, signal) : undefined;
  try {
    let file = await open(path, 'r').catch(ignoreMissing);
    let position = offset;
    for (;;) {
      // Asked before reading: what was written before the end is then surely read.
      const alive = follow && (await isRunning().catch(() => false));
      if (file) {
        for await (const chunk of output.readFrom(file, position)) yield chunk;
        position = output.position;
      }
      if (output.full || !alive || signal.aborted) break;
      await changes?.next();
      const replaced = await replacement(path, file, position);
      if (replaced) {
        await file?.close();
        file = replaced;
        position = 0;
      }
    }
    await file?.close();
    yield* output.rest();
  } finally {
    changes?.close();
  }
}

/** The file now at `path` where it is another than the open one, or was truncated. */
async function replacement(
  path: string,
  file: FileHandle | undefined,
  position: number,
): Promise<FileHandle | undefined> {
  const current = await open(path, 'r').catch(ignoreMissing);
  if (!current || !file) return current;
  const [now, before] = await Promise.all([current.stat(), file.stat()]);
  if (now.ino !== before.ino || now.size < position) return current;
  await current.close();
  return undefined;
}

/** Wakes a follower when the log's directory changes, or after a while. */
class Changes {
  private wake: () => void = () => undefined;
  private pending = false;
  private readonly watcher;
  private readonly onAbort = () => this.wake();

  constructor(
    path: string,
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {
    const name = basename(path);
    this.watcher = watch(dirname(path), (_event, changed) => {
      if (changed !== null && changed !== name) return;
      this.pending = true;
      this.wake();
    });
    this.watcher.on('error', () => this.wake());
    this.signal.addEventListener('abort', this.onAbort, { once: true });
  }

  async next(): Promise<void> {
    if (!this.pending && !this.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = this.clock.setTimeout(resolve, idleCheckMs);
        this.wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    this.pending = false;
  }

  close(): void {
    this.signal.removeEventListener('abort', this.onAbort);
    this.watcher.close();
    this.wake();
  }
}

/** Turns lines of CRI log format into what the client asked for. */
class LogOutput {
  full = false;
  position = 0;
  private left: number;
  private rest_ = Buffer.alloc(0);
  private atLineStart = true;

  constructor(private readonly options: LogOptions) {
    this.left = options.limitBytes ?? Infinity;
  }

  async *read(path: string, offset: number): AsyncGenerator<Buffer> {
    const file = await open(path, 'r').catch(ignoreMissing);
    if (!file) return;
    try {
      yield* this.readFrom(file, offset);
      yield* this.rest();
    } finally {
      await file.close();
    }
  }

  async *readFrom(file: FileHandle, offset: number): AsyncGenerator<Buffer> {
    this.position = offset;
    const buffer = Buffer.alloc(chunkSize);
    while (!this.full) {
      const { bytesRead } = await file.read(buffer, 0, chunkSize, this.position);
      if (bytesRead === 0) return;
      this.position += bytesRead;
      const text = Buffer.concat([this.rest_, buffer.subarray(0, bytesRead)]);
      const end = text.lastIndexOf(0x0a) + 1;
      this.rest_ = Buffer.from(text.subarray(end));
      const out = this.convert(text.subarray(0, end));
      if (out.length > 0) yield out;
    }
  }

  /** A last line without its line feed. */
  *rest(): Generator<Buffer> {
    if (this.rest_.length === 0 || this.full) return;
    const out = this.convert(this.rest_);
    this.rest_ = Buffer.alloc(0);
    if (out.length > 0) yield out;
  }

  private convert(text: Buffer): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    while (from < text.length && !this.full) {
      const newline = text.indexOf(0x0a, from);
      const to = newline < 0 ? text.length : newline;
      const line = this.line(text.subarray(from, to));
      if (line) parts.push(line);
      from = to + 1;
    }
    return Buffer.concat(parts);
  }

  /** `<time> <stream> <P|F>[:…] <content>` */
  private line(line: Buffer): Buffer | undefined {
    const first = line.indexOf(0x20);
    const second = line.indexOf(0x20, first + 1);
    const third = line.indexOf(0x20, second + 1);
    if (first < 0 || second < 0) return undefined;
    const time = line.toString('latin1', 0, first);
    const stream = line.toString('latin1', first + 1, second);
    const tags = line.toString('latin1', second + 1, third < 0 ? line.length : third);
    const { since, stream: wanted, timestamps } = this.options;
    if (wanted && stream !== wanted) return undefined;
    if (since !== undefined && Date.parse(time) < since) return undefined;
    const partial = tags.split(':').includes('P');
    const pieces = [third < 0 ? Buffer.alloc(0) : line.subarray(third + 1)];
    if (timestamps && this.atLineStart) pieces.unshift(Buffer.from(`${time} `));
    if (!partial) pieces.push(Buffer.from('\n'));
    this.atLineStart = !partial;
    const out = Buffer.concat(pieces).subarray(0, this.left);
    this.left -= out.length;
    if (this.left <= 0) this.full = true;
    return out;
  }
}

/** `0.log.20260131-120000`, oldest first; compressed ones are left out, as upstream's tail does. */
async function rotatedFiles(path: string): Promise<string[]> {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = (await readdir(directory).catch(ignoreMissing)) ?? [];
  return names
    .filter((name) => name.startsWith(prefix) && !name.endsWith('.gz') && !name.endsWith('.tmp'))
    .sort()
    .map((name) => join(directory, name));
}

/** Where the last `tailLines` lines begin; without a limit the beginning of the current file. */
async function startPosition(
  files: readonly string[],
  tailLines: number | undefined,
): Promise<{ index: number; offset: number }> {
  const last = files.length - 1;
  if (tailLines === undefined) return { index: 0, offset: 0 };
  let wanted = tailLines;
  for (let index = last; index >= 0; index--) {
    const { offset, lines } = await tailOffset(files[index] ?? '', wanted);
    if (lines >= wanted || index === 0) return { index, offset };
    wanted -= lines;
  }
  return { index: last, offset: 0 };
}

/** Searches backwards for the beginning of the last `count` lines. */
async function tailOffset(path: string, count: number): Promise<{ offset: number; lines: number }> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (!file) return { offset: 0, lines: 0 };
  try {
    const { size } = await file.stat();
    if (count === 0) return { offset: size, lines: 0 };
    const buffer = Buffer.alloc(chunkSize);
    let lines = 0;
    for (let end = size; end > 0;) {
      const start = Math.max(0, end - chunkSize);
      const { bytesRead } = await file.read(buffer, 0, end - start, start);
      for (let i = bytesRead - 1; i >= 0; i--) {
        if (buffer[i] !== 0x0a || start + i === size - 1) continue;
        if (++lines === count) return { offset: start + i + 1, lines };
      }
      end = start;
    }
    return { offset: 0, lines: size > 0 ? lines + 1 : 0 };
  } finally {
    await file.close();
  }
}
