import { createHash } from 'node:crypto';
import { StorageUnusableError } from '../types';
import type { StoredVersion } from './driver';

/**
 * Format: lines of JSON, each followed by as many raw bytes as its `bytes` says.
 * Header `{ format, version, revision, count }`, then one record a key, then `{ sha256 }` over all before it.
 */
const format = 'tinkernetes-storage-snapshot';
const formatVersion = 1;
const flushBytes = 256 * 1024;

interface RecordLine extends Omit<StoredVersion, 'value'> {
  bytes: number;
}

export async function* encodeSnapshot(
  revision: number,
  versions: readonly StoredVersion[],
): AsyncGenerator<Uint8Array, void> {
  const hash = createHash('sha256');
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const add = (part: Uint8Array) => {
    hash.update(part);
    pending.push(part);
    pendingBytes += part.length;
  };
  const flush = () => {
    const chunk = Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
    return chunk;
  };
  add(line({ format, version: formatVersion, revision, count: versions.length }));
  for (const { value, ...rest } of versions) {
    add(line({ ...rest, bytes: value.length } satisfies RecordLine));
    add(value);
    if (pendingBytes >= flushBytes) yield flush();
  }
  pending.push(line({ sha256: hash.digest('hex') }));
  yield flush();
}

/** The versions are complete and checked before the promise resolves. Throws StorageUnusableError. */
export async function decodeSnapshot(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ revision: number; versions: AsyncIterable<StoredVersion> }> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const reader = new SnapshotReader(Buffer.concat(parts));
  const header = reader.line();
  if (header.format !== format) throw new StorageUnusableError('this is no Tinkernetes storage snapshot');
  if (header.version !== formatVersion) {
    throw new StorageUnusableError(
      `the snapshot has version ${String(header.version)}, this program reads ${formatVersion}`,
    );
  }
  const versions: StoredVersion[] = [];
  for (let i = 0; i < Number(header.count); i++) versions.push(reader.record());
  reader.verify();
  return { revision: Number(header.revision), versions: iterate(versions) };
}

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T, void> {
  yield* items;
}

function line(fields: object): Buffer {
  return Buffer.from(`${JSON.stringify(fields)}\n`);
}

class SnapshotReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  line(): Record<string, unknown> {
    const end = this.bytes.indexOf(10, this.at);
    if (end < 0) throw damaged();
    const text = this.bytes.toString('utf8', this.at, end);
    this.at = end + 1;
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch (cause) {
      throw damaged(cause);
    }
  }

  record(): StoredVersion {
    const { bytes, ...rest } = this.line() as unknown as RecordLine;
    const value = this.bytes.subarray(this.at, this.at + bytes);
    if (value.length !== bytes) throw damaged();
    this.at += bytes;
    return { ...rest, value };
  }

  verify(): void {
    const sha256 = createHash('sha256').update(this.bytes.subarray(0, this.at)).digest('hex');
    if (this.line().sha256 !== sha256) throw damaged();
  }
}

function damaged(cause?: unknown): StorageUnusableError {
  return new StorageUnusableError('the snapshot is damaged or incomplete: take another one', { cause });
}
