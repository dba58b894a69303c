import type { Redis } from 'ioredis';

/** As `mergeRevisions`, in one step for all processes. */
const mergeScript = `
local merged = {}
local function take(text)
  for resource, version in string.gmatch(text, '([^,=]+)=(%d+)') do
    local number = tonumber(version)
    if number > (merged[resource] or -1) then merged[resource] = number end
  end
end
take(redis.call('HGET', KEYS[1], ARGV[1]) or '')
take(ARGV[2])
local parts = {}
for resource, number in pairs(merged) do parts[#parts + 1] = resource .. '=' .. string.format('%.0f', number) end
redis.call('HSET', KEYS[1], ARGV[1], table.concat(parts, ','))`;

/** Somebody may have added the key, and asked for more, since it was read. */
const removeIfSameScript = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end`;

export interface KeyNotesOptions {
  redis: Redis;
  /** Before the names in Redis. */
  prefix: string;
}

export interface NotesOfKey {
  /** What a worker's caches must have reached. */
  seen: string | undefined;
  /** How often the key failed since it last succeeded. */
  failures: number;
}

/** What all processes have to know of a queue's keys, beside that they wait. */
export class KeyNotes {
  private readonly redis: Redis;
  private readonly seenHash: string;
  private readonly failuresHash: string;

  constructor({ redis, prefix }: KeyNotesOptions) {
    this.redis = redis;
    this.seenHash = `${prefix}:seen`;
    this.failuresHash = `${prefix}:failures`;
  }

  async read(key: string): Promise<NotesOfKey> {
    const [seen, failures] = await Promise.all([
      this.redis.hget(this.seenHash, key),
      this.redis.hget(this.failuresHash, key),
    ]);
    return { seen: seen ?? undefined, failures: Number(failures ?? 0) };
  }

  async mustSee(key: string, revisions: string): Promise<void> {
    await this.redis.eval(mergeScript, 1, this.seenHash, key, revisions);
  }

  /** The next run need not see more than the last one that read `seen`. */
  async hasSeen(key: string, seen: string | undefined): Promise<void> {
    if (seen) await this.redis.eval(removeIfSameScript, 1, this.seenHash, key, seen);
  }

  /** How often it has failed now. */
  failed(key: string): Promise<number> {
    return this.redis.hincrby(this.failuresHash, key, 1);
  }

  async succeeded(key: string): Promise<void> {
    await this.redis.hdel(this.failuresHash, key);
  }
}
