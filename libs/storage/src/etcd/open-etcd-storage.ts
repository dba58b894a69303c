import type { Logger } from '@tinkernetes/component-base';
import { MvccStorage, type MvccOptions } from '../mvcc/mvcc-storage';
import { StorageUnusableError, type Storage } from '../types';
import type { EtcdTls } from './etcd-client';
import { EtcdDriver } from './etcd-driver';

/**
 * A store in etcd v3. `endpoints`: `http[s]://[user:password@]host:port`, several joined by commas; `?prefix=NAME`
 * after them goes before every key.
 */
export async function openEtcdStorage(
  endpoints: string,
  options: MvccOptions & { logger: Logger; tls?: EtcdTls },
): Promise<Storage> {
  const { clock, logger, tls } = options;
  const [list = '', query = ''] = endpoints.split('?', 2);
  const urls = list
    .split(',')
    .map((endpoint) => parse(endpoint.includes('://') ? endpoint : `http://${endpoint}`));
  const keyPrefix = new URLSearchParams(query).get('prefix') ?? '';
  const driver = new EtcdDriver({
    // A URL's text would end in a slash.
    endpoints: urls.map(({ protocol, host }) => `${protocol}//${host}`),
    user: userOf(urls),
    keyPrefix,
    tls,
    clock,
    logger,
  });
  return MvccStorage.open(driver, options);
}

function parse(endpoint: string): URL {
  if (!URL.canParse(endpoint))
    throw new StorageUnusableError(`"${endpoint}" is no etcd endpoint: use http://<host>:<port>`);
  return new URL(endpoint);
}

function userOf(urls: readonly URL[]): { name: string; password: string } | undefined {
  const named = urls.find(({ username }) => username !== '');
  if (!named) return undefined;
  return { name: decodeURIComponent(named.username), password: decodeURIComponent(named.password) };
}
