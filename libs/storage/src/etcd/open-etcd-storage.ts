import type { Logger } from '@tinkernetes/component-base';
import { MvccStorage, type MvccOptions } from '../mvcc/mvcc-storage';
import { StorageUnusableError, type Storage } from '../types';
import { EtcdDriver } from './etcd-driver';

/**
 * A store in etcd v3. `endpoints`: `http[s]://host:port`, several joined by commas; `?prefix=NAME` after them goes
 * before every key.
 */
export async function openEtcdStorage(
  endpoints: string,
  options: MvccOptions & { logger: Logger },
): Promise<Storage> {
  const { clock, logger } = options;
  const [list = '', query = ''] = endpoints.split('?', 2);
  const urls = list
    .split(',')
    .map((endpoint) => (endpoint.includes('://') ? endpoint : `http://${endpoint}`));
  const bad = urls.find((url) => !URL.canParse(url));
  if (bad !== undefined)
    throw new StorageUnusableError(`"${bad}" is no etcd endpoint: use http://<host>:<port>`);
  const keyPrefix = new URLSearchParams(query).get('prefix') ?? '';
  return MvccStorage.open(new EtcdDriver({ endpoints: urls, keyPrefix, clock, logger }), options);
}
