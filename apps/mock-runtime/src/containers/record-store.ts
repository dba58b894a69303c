import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '@tinkernetes/component-base';
import { errorCode } from '../error-code';

interface Deleted {
  id: string;
  deleted: true;
}

/** The file is written anew when it has this many lines more than twice the records. */
const spareLines = 1000;

/**
 * Records of one kind in one file, so that a restarted runtime knows what it had: each change is a line at its end,
 * written before the call that made it is answered; the last line of a record counts. A damaged line loses only itself.
 */
export class RecordStore<T extends { id: string }> {
  private readonly records = new Map<string, T>();
  private fd: number | undefined;
  private lines = 0;
  /** A change could not be written, e.g. on a full disk: as soon as it can be, all records are. */
  private behind = false;

  constructor(
    private readonly file: string,
    private readonly logger: Logger,
  ) {}

  load(): T[] {
    mkdirSync(dirname(this.file), { recursive: true });
    for (const line of this.read().split('\n')) {
      if (line !== '') this.replay(line);
    }
    this.compact();
    return [...this.records.values()];
  }

  save(record: T): void {
    this.records.set(record.id, record);
    this.append(JSON.stringify(record, encodeBuffers));
  }

  delete(id: string): void {
    if (this.records.delete(id)) this.append(JSON.stringify({ id, deleted: true } satisfies Deleted));
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
    this.fd = undefined;
  }

  private append(line: string): void {
    if (this.behind || this.lines > 2 * this.records.size + spareLines) return this.compact();
    try {
      this.fd ??= openSync(this.file, 'a', 0o600);
      const data = Buffer.from(`${line}\n`);
      if (writeSync(this.fd, data) !== data.length) throw new Error('short write');
      this.lines += 1;
    } catch (error) {
      this.failed(error);
    }
  }

  private compact(): void {
    const lines = [...this.records.values()].map((record) => `${JSON.stringify(record, encodeBuffers)}\n`);
    try {
      writeFileSync(`${this.file}.tmp`, lines.join(''), { mode: 0o600 });
      renameSync(`${this.file}.tmp`, this.file);
      this.close();
      this.lines = lines.length;
      this.behind = false;
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    // Once: a disk that is full stays so for a while.
    if (!this.behind) this.logger.error({ err: error, file: this.file }, 'state not saved');
    this.behind = true;
    this.close();
  }

  private read(): string {
    try {
      return readFileSync(this.file, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return '';
      throw error;
    }
  }

  private replay(line: string): void {
    try {
      const record = JSON.parse(line, decodeBuffers) as T | Deleted;
      if ('deleted' in record) this.records.delete(record.id);
      else this.records.set(record.id, record);
    } catch (error) {
      this.logger.error({ err: error, file: this.file }, 'a record is damaged and ignored');
    }
  }
}

interface EncodedBuffer {
  type: 'Buffer';
  base64: string;
}

/** JSON.stringify calls Buffer's own toJSON first: its array form is replaced by base64. */
function encodeBuffers(_key: string, value: unknown): unknown {
  if (
    typeof value !== 'object' ||
    value === null ||
    !('type' in value) ||
    value.type !== 'Buffer' ||
    !('data' in value)
  )
    return value;
  return {
    type: 'Buffer',
    base64: Buffer.from(value.data as number[]).toString('base64'),
  } satisfies EncodedBuffer;
}

function decodeBuffers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('base64' in value) || !('type' in value)) return value;
  return Buffer.from((value as EncodedBuffer).base64, 'base64');
}
