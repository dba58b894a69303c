import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@tinkernetes/component-base';

/** Records of one kind, one file each, so that a restarted runtime knows what it had. Last write wins. */
export class RecordStore<T extends { id: string }> {
  private readonly pending = new Map<string, Promise<void>>();
  private readonly latest = new Map<string, T | undefined>();

  constructor(
    private readonly dir: string,
    private readonly logger: Logger,
  ) {}

  async load(): Promise<T[]> {
    await mkdir(this.dir, { recursive: true });
    const names = (await readdir(this.dir)).filter((name) => name.endsWith('.json'));
    const records = await Promise.all(names.map((name) => this.read(name)));
    return records.filter((record): record is Awaited<T> & T => record !== undefined);
  }

  save(record: T): void {
    this.latest.set(record.id, record);
    this.write(record.id);
  }

  delete(id: string): void {
    this.latest.set(id, undefined);
    this.write(id);
  }

  async flush(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending.values());
  }

  /** While a record is being written, newer versions of it only replace what will be written next. */
  private write(id: string): void {
    if (this.pending.has(id)) return;
    this.pending.set(
      id,
      Promise.resolve().then(() => this.drain(id)),
    );
  }

  private async drain(id: string): Promise<void> {
    const file = join(this.dir, `${id}.json`);
    while (this.latest.has(id)) {
      const record = this.latest.get(id);
      this.latest.delete(id);
      try {
        if (record === undefined) {
          await rm(file, { force: true });
          continue;
        }
        await writeFile(`${file}.tmp`, JSON.stringify(record, encodeBuffers));
        await rename(`${file}.tmp`, file);
      } catch (error) {
        this.logger.error({ err: error, file }, 'state not saved');
      }
    }
    // In the same turn as the last look at `latest`: who saves later starts anew.
    this.pending.delete(id);
  }

  private async read(name: string): Promise<T | undefined> {
    const file = join(this.dir, name);
    try {
      return JSON.parse(await readFile(file, 'utf8'), decodeBuffers) as T;
    } catch (error) {
      this.logger.error({ err: error, file }, 'state is damaged and ignored');
      return undefined;
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
