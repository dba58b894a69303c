import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script, which Redis runs as one transaction. */
export class Script {
  private readonly sha: string;

  constructor(private readonly source: string) {
    this.sha = createHash('sha1').update(source).digest('hex');
  }

  /** The reply with strings as Buffers. */
  async run(
    redis: Redis,
    keys: readonly string[],
    args: readonly (string | number | Uint8Array)[],
  ): Promise<unknown> {
    const rest = [
      keys.length,
      ...keys,
      ...args.map((arg) => (arg instanceof Uint8Array ? asBuffer(arg) : arg)),
    ];
    try {
      return await redis.callBuffer('EVALSHA', [this.sha, ...rest]);
    } catch (error) {
      // The server has been restarted, or never saw it.
      if (!String(error).includes('NOSCRIPT')) throw error;
      return redis.callBuffer('EVAL', [this.source, ...rest]);
    }
  }
}

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/*
 * KEYS of all scripts: meta (hash: format, revision, compactRevision, sealedRun), data (hash: key → packed version),
 * index (sorted set of keys), log (stream: one entry `<revision>-0` a revision, fields k, c, p, t).
 * A packed version is `<create> <mod> <version> <expires or -> <trace or -> \n <value>`.
 */

/** ARGV: format. Reply: format, revision, compactRevision of the store, which is made when there is none. */
export const openScript = new Script(`
  redis.call('HSETNX', KEYS[1], 'format', ARGV[1])
  redis.call('HSETNX', KEYS[1], 'revision', 1)
  redis.call('HSETNX', KEYS[1], 'compactRevision', 0)
  return redis.call('HMGET', KEYS[1], 'format', 'revision', 'compactRevision')`);

/** ARGV: key. Reply: revision, packed version. */
export const readScript = new Script(`
  return { redis.call('HGET', KEYS[1], 'revision'), redis.call('HGET', KEYS[2], ARGV[1]) }`);

/** ARGV: lower bound, upper bound, limit (-1: all), read values (0 or 1). Reply: revision, count, keys, versions. */
export const rangeScript = new Script(`
  local revision = redis.call('HGET', KEYS[1], 'revision')
  local count = redis.call('ZLEXCOUNT', KEYS[3], ARGV[1], ARGV[2])
  local keys, versions = {}, {}
  if ARGV[4] == '1' then
    keys = redis.call('ZRANGEBYLEX', KEYS[3], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
    for from = 1, #keys, 1000 do
      local page = redis.call('HMGET', KEYS[2], unpack(keys, from, math.min(from + 999, #keys)))
      for i = 1, #page do versions[#versions + 1] = page[i] end
    end
  end
  return { revision, count, keys, versions }`);

/** ARGV: key, expected revision, put (1) or delete (0), expiry, trace, token, value. Reply: revision (0: refused), packed version before. */
export const writeScript = new Script(`
  local before = redis.call('HGET', KEYS[2], ARGV[1])
  local create, mod, version
  if before then create, mod, version = string.match(before, '^(%d+) (%d+) (%d+) ') end
  if (mod or '0') ~= ARGV[2] then return { 0, before } end
  local revision = string.format('%.0f', redis.call('HINCRBY', KEYS[1], 'revision', 1))
  local after = ''
  if ARGV[3] == '1' then
    local head = { create or revision, revision, string.format('%.0f', (tonumber(version) or 0) + 1), ARGV[4], ARGV[5] }
    after = table.concat(head, ' ') .. '\\n' .. ARGV[7]
    redis.call('HSET', KEYS[2], ARGV[1], after)
    if not before then redis.call('ZADD', KEYS[3], 0, ARGV[1]) end
  else
    redis.call('HDEL', KEYS[2], ARGV[1])
    redis.call('ZREM', KEYS[3], ARGV[1])
  end
  redis.call('XADD', KEYS[4], revision .. '-0', 'k', ARGV[1], 'c', after, 'p', before or '', 't', ARGV[6])
  return { tonumber(revision), before }`);

/** ARGV: revision. */
export const compactScript = new Script(`
  local known = tonumber(redis.call('HGET', KEYS[1], 'compactRevision'))
  if tonumber(ARGV[1]) <= known then return 0 end
  redis.call('HSET', KEYS[1], 'compactRevision', ARGV[1])
  redis.call('XTRIM', KEYS[4], 'MINID', string.format('%.0f-0', tonumber(ARGV[1]) + 1))
  return 1`);

/** ARGV: key, packed version, and so on. */
export const loadScript = new Script(`
  for i = 1, #ARGV, 2 do
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
    redis.call('ZADD', KEYS[3], 0, ARGV[i])
  end
  return 1`);

/** ARGV: revision. */
export const finishLoadScript = new Script(`
  redis.call('HSET', KEYS[1], 'revision', ARGV[1], 'compactRevision', ARGV[1])
  return 1`);
