import type { Change, StoredVersion } from '../mvcc/driver';

const newline = 10;

/** A version as the scripts keep it: a line of numbers and the value. */
export function pack({
  createRevision,
  modRevision,
  version,
  expiresAt,
  trace,
  value,
}: StoredVersion): Buffer {
  const head = [createRevision, modRevision, version, expiresAt ?? '-', packTrace(trace)].join(' ');
  return Buffer.concat([Buffer.from(`${head}\n`), value]);
}

export function packTrace(trace: string | undefined): string {
  return trace === undefined ? '-' : encodeURIComponent(trace);
}

export function unpack(key: string, packed: Buffer): StoredVersion {
  const end = packed.indexOf(newline);
  const [createRevision, modRevision, version, expiresAt = '-', trace = '-'] = packed
    .toString('latin1', 0, end)
    .split(' ');
  const stored: StoredVersion = {
    key,
    value: packed.subarray(end + 1),
    createRevision: Number(createRevision),
    modRevision: Number(modRevision),
    version: Number(version),
  };
  if (expiresAt !== '-') stored.expiresAt = Number(expiresAt);
  if (trace !== '-') stored.trace = decodeURIComponent(trace);
  return stored;
}

export type LogEntry = [id: Buffer, fields: Buffer[]];

/** An entry of the log, and the token of the write that made it. */
export function unpackEntry([id, [, keyBytes, , current, , previous, , token]]: LogEntry): {
  change: Change;
  token: string;
} {
  const key = keyBytes?.toString() ?? '';
  return {
    token: token?.toString() ?? '',
    change: {
      revision: Number.parseInt(id.toString(), 10),
      key,
      current: current?.length ? unpack(key, current) : undefined,
      previous: previous?.length ? unpack(key, previous) : undefined,
    },
  };
}
