import type { Endpoint } from './context';
import { readPage } from './list-page';
import { listQuery } from './list-options';
import { hasProtobuf, targetOf } from './answer';
import { sendList } from './list-answer';
import { negotiate } from './negotiation';
import { selectionOf } from './selection';
import { includeObjectOf } from './table';

/** GET of a collection. */
export const list: Endpoint = async (context, request) => {
  const query = listQuery(request, { watch: false });
  const negotiated = negotiate(request.raw.headers.accept, {
    protobuf: hasProtobuf(request),
    scope: 'list',
    target: targetOf(request),
  });
  const page = await readPage(context, request, selectionOf(request), query);
  const includeObject = negotiated.transform === 'Table' ? includeObjectOf(request.query) : '';
  await sendList(context, request, page, { negotiated, includeObject });
};
