import { isNotFound } from '@tinkernetes/apimachinery';
import type { CacheEntry } from '../cacher/cache-entry';
import { deleteObject } from '../registry/generic/deletion';
import type { Endpoint } from './context';
import { storeOf } from './context';
import { readDeleteOptions } from './delete-options';
import { listQuery } from './list-options';
import { sendList } from './list-answer';
import { readPage } from './list-page';
import { hasProtobuf } from './answer';
import { negotiate } from './negotiation';
import { selectionOf } from './selection';
import { writeContext } from './write-context';

/** DELETE of all objects of a collection that the selectors choose. Answers with them as they were before. */
export const deleteCollection: Endpoint = async (context, request) => {
  const query = listQuery(request, { watch: false });
  const negotiated = negotiate(request.raw.headers.accept, { protobuf: hasProtobuf(request), scope: 'list' });
  const selection = selectionOf(request);
  const options = await readDeleteOptions(context, request);
  const { entries, meta } = await readPage(context, request, selection, query);
  const write = writeContext(context, request, {
    operation: 'DELETE',
    query: { dryRun: options.dryRun, fieldManager: '' },
    options: options.raw,
  });
  const store = storeOf(request);
  const deleted: CacheEntry[] = [];
  for (const entry of entries) {
    try {
      await deleteObject(store, entry, options, write);
      deleted.push(entry);
    } catch (error) {
      // Somebody else was faster; what the collection promises holds.
      if (!isNotFound(error)) throw error;
    }
  }
  await sendList(context, request, { entries: deleted, meta }, { negotiated, includeObject: 'Metadata' });
};
