import type { RedisConfig } from './redis-config';
import type { Clock } from '@tinkernetes/component-base';

export type Reply = string | number | null | Error | readonly Reply[];

type Stored = string | string[] | Map<string, string> | Set<string>;

const wrongType = new Error('WRONGTYPE Operation against a key holding the wrong kind of value');
const wrongArguments = (name: string): Error =>
  new Error(`ERR wrong number of arguments for '${name.toLowerCase()}' command`);

/** redis' keys and the commands on them. */
export class RedisData {
  private readonly values = new Map<string, Stored>();
  private readonly expiry = new Map<string, number>();
  /** What INFO says of it. */
  replication: string | (() => string) = 'role:master\r\nconnected_slaves:0\r\n';
  /** What SAVE does. */
  save: () => Reply = () => new Error('ERR there is no file to save to');

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly config: RedisConfig,
  ) {}

  run([name = '', ...args]: readonly string[]): Reply {
    const command = this.commands[name.toUpperCase()];
    if (!command)
      return new Error(
        `ERR unknown command '${name}', with args beginning with: ${args.map((a) => `'${a}' `).join('')}`,
      );
    try {
      return command(args);
    } catch (error) {
      if (error === wrongType || error instanceof RangeError) return error as Error;
      throw error;
    }
  }

  private readonly commands: Readonly<Record<string, ((args: readonly string[]) => Reply) | undefined>> = {
    PING: ([text]) => text ?? 'PONG',
    ECHO: ([text = '']) => text,
    SET: ([key, value, ...options]) => {
      if (key === undefined || value === undefined) return wrongArguments('set');
      const has = (option: string) => options.some((o) => o.toUpperCase() === option);
      if ((has('NX') && this.get(key) !== undefined) || (has('XX') && this.get(key) === undefined))
        return null;
      this.put(key, value);
      const at = options.findIndex((o) => /^(?:EX|PX)$/i.test(o));
      if (at >= 0)
        this.expire(key, Number(options[at + 1]) * (options[at]?.toUpperCase() === 'EX' ? 1000 : 1));
      return 'OK';
    },
    SETEX: ([key = '', seconds, value = '']) => {
      this.put(key, value);
      this.expire(key, Number(seconds) * 1000);
      return 'OK';
    },
    SETNX: ([key = '', value = '']) => {
      if (this.get(key) !== undefined) return 0;
      this.put(key, value);
      return 1;
    },
    GET: ([key = '']) => this.text(key) ?? null,
    GETDEL: ([key = '']) => {
      const value = this.text(key) ?? null;
      this.remove(key);
      return value;
    },
    MGET: (keys) => keys.map((key) => this.text(key) ?? null),
    MSET: (args) => {
      for (let i = 0; i + 1 < args.length; i += 2) this.put(args[i] ?? '', args[i + 1] ?? '');
      return 'OK';
    },
    APPEND: ([key = '', value = '']) => {
      const next = (this.text(key) ?? '') + value;
      this.values.set(key, next);
      return next.length;
    },
    STRLEN: ([key = '']) => (this.text(key) ?? '').length,
    INCR: ([key = '']) => this.add(key, 1),
    DECR: ([key = '']) => this.add(key, -1),
    INCRBY: ([key = '', by]) => this.add(key, Number(by)),
    DECRBY: ([key = '', by]) => this.add(key, -Number(by)),
    DEL: (keys) => keys.filter((key) => this.remove(key)).length,
    EXISTS: (keys) => keys.filter((key) => this.get(key) !== undefined).length,
    TYPE: ([key = '']) => typeOf(this.get(key)),
    EXPIRE: ([key = '', seconds]) => this.expire(key, Number(seconds) * 1000),
    PEXPIRE: ([key = '', ms]) => this.expire(key, Number(ms)),
    PERSIST: ([key = '']) => (this.expiry.delete(key) ? 1 : 0),
    TTL: ([key = '']) => this.timeToLive(key, 1000),
    PTTL: ([key = '']) => this.timeToLive(key, 1),
    KEYS: ([pattern = '*']) =>
      [...this.values.keys()].filter((key) => this.get(key) !== undefined && globOf(pattern).test(key)),
    DBSIZE: () => [...this.values.keys()].filter((key) => this.get(key) !== undefined).length,
    FLUSHALL: () => this.clear(),
    FLUSHDB: () => this.clear(),
    LPUSH: ([key = '', ...items]) => this.list(key).unshift(...items.reverse()),
    RPUSH: ([key = '', ...items]) => this.list(key).push(...items),
    LPOP: ([key = '']) => this.list(key).shift() ?? null,
    RPOP: ([key = '']) => this.list(key).pop() ?? null,
    LLEN: ([key = '']) => this.list(key).length,
    LRANGE: ([key = '', start, stop]) => {
      const list = this.list(key);
      const at = (index: number) => (index < 0 ? Math.max(0, list.length + index) : index);
      return list.slice(at(Number(start)), at(Number(stop)) + 1);
    },
    HSET: ([key = '', ...pairs]) => {
      const hash = this.hash(key);
      const before = hash.size;
      for (let i = 0; i + 1 < pairs.length; i += 2) hash.set(pairs[i] ?? '', pairs[i + 1] ?? '');
      return hash.size - before;
    },
    HGET: ([key = '', field = '']) => this.hash(key).get(field) ?? null,
    HDEL: ([key = '', ...fields]) => fields.filter((field) => this.hash(key).delete(field)).length,
    HGETALL: ([key = '']) => [...this.hash(key)].flat(),
    HKEYS: ([key = '']) => [...this.hash(key).keys()],
    HLEN: ([key = '']) => this.hash(key).size,
    HINCRBY: ([key = '', field = '', by]) => {
      const next = Number(this.hash(key).get(field) ?? 0) + Number(by);
      this.hash(key).set(field, String(next));
      return next;
    },
    SADD: ([key = '', ...members]) => {
      const set = this.set(key);
      const before = set.size;
      for (const member of members) set.add(member);
      return set.size - before;
    },
    SREM: ([key = '', ...members]) => members.filter((member) => this.set(key).delete(member)).length,
    SMEMBERS: ([key = '']) => [...this.set(key)],
    SISMEMBER: ([key = '', member = '']) => (this.set(key).has(member) ? 1 : 0),
    SCARD: ([key = '']) => this.set(key).size,
    INFO: () => {
      const { replication } = this;
      const text = typeof replication === 'string' ? replication : replication();
      return `# Server\r\nredis_version:8.2.2\r\n# Replication\r\n${text}`;
    },
    REPLCONF: () => 'OK',
    COMMAND: () => [],
    CONFIG: ([verb = '', ...args]) => {
      const [name = '', value = ''] = args;
      if (verb.toUpperCase() === 'GET') return args.flatMap((pattern) => this.config.matching(pattern));
      if (verb.toUpperCase() !== 'SET') return 'OK';
      const refusal = this.config.set(name, value);
      return refusal === undefined ? 'OK' : new Error(refusal);
    },
    SELECT: () => 'OK',
    CLIENT: () => 'OK',
    SAVE: () => this.save(),
    BGSAVE: () => {
      const reply = this.save();
      return reply instanceof Error ? reply : 'Background saving started';
    },
  };

  /** Commands that make the same data in an empty server. */
  dump(): string[][] {
    return [...this.values.keys()].flatMap((key) => {
      const value = this.get(key);
      if (value === undefined) return [];
      const left = this.timeToLive(key, 1);
      const make = Array.isArray(value)
        ? ['RPUSH', key, ...value]
        : typeof value === 'string'
          ? ['SET', key, value]
          : value instanceof Map
            ? ['HSET', key, ...[...value].flat()]
            : ['SADD', key, ...value];
      return left < 0 ? [make] : [make, ['PEXPIRE', key, String(left)]];
    });
  }

  private get(key: string): Stored | undefined {
    const end = this.expiry.get(key);
    if (end !== undefined && end <= this.clock.now()) this.remove(key);
    const value = this.values.get(key);
    // Emptied lists, hashes and sets are as good as gone.
    return typeof value === 'object' && sizeOf(value) === 0 ? undefined : value;
  }

  private put(key: string, value: Stored): void {
    this.values.set(key, value);
    this.expiry.delete(key);
  }

  private remove(key: string): boolean {
    this.expiry.delete(key);
    return this.values.delete(key);
  }

  private clear(): Reply {
    this.values.clear();
    this.expiry.clear();
    return 'OK';
  }

  private expire(key: string, ms: number): number {
    if (this.get(key) === undefined) return 0;
    this.expiry.set(key, this.clock.now() + ms);
    return 1;
  }

  private timeToLive(key: string, unit: number): number {
    if (this.get(key) === undefined) return -2;
    const end = this.expiry.get(key);
    return end === undefined ? -1 : Math.ceil((end - this.clock.now()) / unit);
  }

  private text(key: string): string | undefined {
    const value = this.get(key);
    if (value !== undefined && typeof value !== 'string') throw wrongType;
    return value;
  }

  private add(key: string, by: number): Reply {
    const next = Number(this.text(key) ?? '0') + by;
    if (!Number.isInteger(next)) return new Error('ERR value is not an integer or out of range');
    this.values.set(key, String(next));
    return next;
  }

  private list(key: string): string[] {
    return this.collection(
      key,
      (value) => Array.isArray(value),
      () => [],
    );
  }

  private hash(key: string): Map<string, string> {
    return this.collection(
      key,
      (value) => value instanceof Map,
      () => new Map(),
    );
  }

  private set(key: string): Set<string> {
    return this.collection(
      key,
      (value) => value instanceof Set,
      () => new Set(),
    );
  }

  private collection<T extends Stored>(key: string, is: (value: Stored) => value is T, make: () => T): T {
    const value = this.get(key) ?? this.values.get(key);
    if (value === undefined) {
      const made = make();
      this.values.set(key, made);
      return made;
    }
    if (!is(value)) throw wrongType;
    return value;
  }
}

const sizeOf = (value: string[] | Map<string, string> | Set<string>): number =>
  Array.isArray(value) ? value.length : value.size;

function typeOf(value: Stored | undefined): string {
  if (value === undefined) return 'none';
  if (typeof value === 'string') return 'string';
  if (Array.isArray(value)) return 'list';
  return value instanceof Map ? 'hash' : 'set';
}

const globOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
