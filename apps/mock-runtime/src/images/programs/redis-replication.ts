import type { Duplex } from 'node:stream';
import type { Address } from '@tinkernetes/vnet';
import type { Process } from '../../kernel/process';
import { resolveHost } from '../../net/resolver';
import type { RedisConfig } from './redis-config';
import type { RedisData, Reply } from './redis-data';
import { encodeCommand, parseCommand } from './redis-protocol';

const writes = new Set(
  'SET SETEX SETNX GETDEL MSET APPEND INCR DECR INCRBY DECRBY DEL EXPIRE PEXPIRE PERSIST FLUSHALL FLUSHDB LPUSH RPUSH LPOP RPOP HSET HDEL HINCRBY SADD SREM'.split(
    ' ',
  ),
);
const isWrite = (command: readonly string[]): boolean => writes.has(command[0]?.toUpperCase() ?? '');

/** A snapshot of nothing: what there is follows it as commands, which is as good. */
const emptySnapshot = `REDIS0011\xff${'\0'.repeat(8)}`;
const replicationId = '0'.repeat(40);
/** How long a follower waits until it tries its leader again. */
const retryMs = 1000;

/** The followers of a leader: each gets what there is, and then every write. Source: redis.io, Replication. */
export class Replicas {
  private readonly streams = new Set<Duplex>();

  constructor(private readonly data: RedisData) {}

  get count(): number {
    return this.streams.size;
  }

  add(stream: Duplex): void {
    const head = `+FULLRESYNC ${replicationId} 0\r\n$${emptySnapshot.length}\r\n${emptySnapshot}`;
    stream.write(head + this.data.dump().map(encodeCommand).join(''), 'latin1');
    this.streams.add(stream);
    stream.once('close', () => this.streams.delete(stream));
  }

  readonly running = (command: string[]): Reply => {
    const reply = this.data.run(command);
    if (isWrite(command) && !(reply instanceof Error))
      for (const stream of this.streams) stream.write(encodeCommand(command), 'latin1');
    return reply;
  };
}

export interface Leader extends Address {
  /** `masterauth` */
  password: string;
}

/** `replicaof HOST PORT` of the configuration. */
export function leaderOf(config: RedisConfig): Leader | undefined {
  const [host = '', port = '6379'] = config.get('replicaof').split(/\s+/);
  return host === '' || host === 'no'
    ? undefined
    : { host, port: Number(port), password: config.get('masterauth') };
}

export const readOnly =
  (data: RedisData) =>
  (command: string[]): Reply =>
    isWrite(command) ? new Error("READONLY You can't write against a read only replica.") : data.run(command);

/** Does what the leader did; when it is lost, its data stays, and it is looked for again. */
export async function follow(process: Process, leader: Leader, data: RedisData): Promise<void> {
  while (!process.signal.aborted) {
    try {
      await process.print(`${process.pid}:S * Connecting to MASTER ${leader.host}:${leader.port}\n`);
      const host = await resolveHost(process, leader.host);
      const { stream } = await process.net.connect({ host, port: leader.port, signal: process.signal });
      if (leader.password !== '') stream.write(encodeCommand(['AUTH', leader.password]));
      await copy(process, stream, data);
    } catch (error) {
      if (process.signal.aborted) return;
      await process.print(`${process.pid}:S * MASTER <-> REPLICA sync: ${(error as Error).message}\n`);
    }
    await process.sleep(retryMs).catch(() => undefined);
  }
}

async function copy(process: Process, stream: Duplex, data: RedisData): Promise<void> {
  const end = () => stream.destroy();
  process.signal.addEventListener('abort', end, { once: true });
  stream.write(encodeCommand(['PSYNC', '?', '-1']));
  let text = '';
  let isInStep = false;
  let isNew = false;
  try {
    for await (const chunk of stream) {
      text += (chunk as Buffer).toString('latin1');
      if (!isInStep) {
        const [, refusal] = /^(?:\+OK\r\n)?-([^\r\n]*)\r\n/.exec(text) ?? [];
        if (refusal !== undefined) throw new Error(refusal);
        const snapshot = /^(?:\+OK\r\n)?\+FULLRESYNC[^\r\n]*\r\n\$(\d+)\r\n/.exec(text);
        if (!snapshot) continue;
        const length = snapshot[0].length + Number(snapshot[1]);
        if (text.length < length) continue;
        text = text.slice(length);
        isInStep = true;
        data.run(['FLUSHALL']);
        isNew = true;
      }
      for (let parsed = parseCommand(text); parsed; parsed = parseCommand(text)) {
        text = text.slice(parsed.length);
        data.run(parsed.command);
      }
      if (!isNew) continue;
      isNew = false;
      await process.print(`${process.pid}:S * MASTER <-> REPLICA sync: Finished with success\n`);
    }
  } finally {
    process.signal.removeEventListener('abort', end);
    stream.destroy();
  }
}
