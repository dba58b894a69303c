import type { Logger } from '@tinkernetes/component-base';
import type { Redis } from 'ioredis';
import { StorageUnusableError } from '../types';

/** XTRIM MINID came with it. */
const oldestVersion = [6, 2];

/** Refuses a Redis that is too old, and warns of one that may lose acknowledged writes. */
export async function checkServer(
  redis: Redis,
  { name, logger }: { name: string; logger: Logger },
): Promise<void> {
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestVersion;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new StorageUnusableError(
      `${name} is Redis ${version}: ${oldestVersion.join('.')} or newer is needed`,
    );
  }
  const weakness = await durabilityWeakness(redis);
  if (weakness) logger.warn({}, `${name}: ${weakness}`);
}

async function durabilityWeakness(redis: Redis): Promise<string | undefined> {
  let settings: Map<string, string>;
  try {
    const flat = (await redis.call('CONFIG', ['GET', 'append*'])) as string[];
    settings = new Map(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? '']] : [])));
  } catch (error) {
    return `its persistence can't be checked (${error instanceof Error ? error.message : String(error)})`;
  }
  if (settings.get('appendonly') !== 'yes')
    return 'appendonly is off: acknowledged writes are lost when Redis stops; set "appendonly yes" and "appendfsync always"';
  const fsync = settings.get('appendfsync');
  if (fsync !== 'always')
    return `appendfsync is "${fsync}": the last acknowledged writes are lost when the machine stops; set it to "always"`;
  return undefined;
}
