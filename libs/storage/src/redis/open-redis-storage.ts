import type { Logger } from '@tinkernetes/component-base';
import { MvccStorage, type MvccOptions } from '../mvcc/mvcc-storage';
import { StorageUnusableError, type Storage } from '../types';
import { RedisDriver } from './redis-driver';

/**
 * A store in Redis 6.2 or newer, which several API servers may share.
 * `url`: `redis[s]://[user:password@]host[:port][/database][?prefix=NAME]`; all keys begin with the prefix.
 */
export function openRedisStorage(url: string, options: MvccOptions & { logger: Logger }): Promise<Storage> {
  const { address, keyPrefix, name } = parse(url);
  const driver = new RedisDriver({ url: address, keyPrefix, name, logger: options.logger });
  return MvccStorage.open(driver, options);
}

function parse(url: string): { address: string; keyPrefix: string; name: string } {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (cause) {
    throw new StorageUnusableError(`"${url}" is no address: use redis://<host>:<port>`, { cause });
  }
  const keyPrefix = parsed.searchParams.get('prefix') ?? 'tinkernetes';
  parsed.searchParams.delete('prefix');
  const address = parsed.toString();
  const name = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  return { address, keyPrefix, name };
}
