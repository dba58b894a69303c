import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StatusError } from '@tinkernetes/apimachinery';
import type { Storage } from '@tinkernetes/storage';
import type { ApiRequest } from '../contracts';

/** Not one of Kubernetes' paths: RBAC lets only those read it who may read every path. */
const snapshotPath = '/debug/tinkernetes/snapshot';

/** All that is stored, at one revision, while the server goes on: what `tinkernetes snapshot save` reads. */
export async function serveSnapshot(storage: Storage, request: ApiRequest): Promise<boolean> {
  if (request.info.path !== snapshotPath) return false;
  if (request.raw.method !== 'GET') {
    throw new StatusError('MethodNotAllowed', 'a snapshot can only be read', { details: {} });
  }
  request.response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
  await pipeline(Readable.from(storage.snapshot(), { objectMode: false }), request.response);
  return true;
}
