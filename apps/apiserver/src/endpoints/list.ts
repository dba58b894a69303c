import { includeObjectOf } from './table';
import { apiVersionOf } from '@tinkernetes/api';
import type { CacheEntry } from '../cacher/cache-entry';
import { jsonEncoding } from '../registry/generic/stored-codec';
import { sendBytes } from '../server/respond';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { readPage } from './list-page';
import { listQuery } from './list-options';
import { hasProtobuf, targetOf } from './answer';
import { negotiate } from './negotiation';
import { presentList } from './presenter';
import { selectionOf } from './selection';
import { writeInChunks } from './streamed-write';
import type { ListMeta } from './presenter';

/** GET of a collection. */
export const list: Endpoint = async (context, request) => {
  const query = listQuery(request, { watch: false });
  const negotiated = negotiate(request.raw.headers.accept, {
    protobuf: hasProtobuf(request),
    scope: 'list',
    target: targetOf(request),
  });
  const { entries, meta } = await readPage(context, request, selectionOf(request), query);
  await request.resource.prepare?.(entries);
  if (negotiated.format === 'json' && !negotiated.transform) {
    await sendJsonList(context, request, entries, meta);
    return;
  }
  const table = {
    now: context.clock.now(),
    includeObject: negotiated.transform === 'Table' ? includeObjectOf(request.query) : '',
    version: negotiated.transformVersion ?? 'v1',
    noHeaders: false,
  };
  sendBytes(
    request.response,
    200,
    negotiated.contentType,
    presentList(request.resource, entries, meta, { negotiated, table }),
  );
};

/** Built-in kinds are listed without their kind and apiVersion, which the list's own imply. */
function itemOffset(kind: string, apiVersion: string, custom: boolean): number {
  return custom ? 0 : `{"kind":"${kind}","apiVersion":"${apiVersion}"`.length;
}

async function sendJsonList(
  context: EndpointContext,
  request: ResourceRequest,
  entries: readonly CacheEntry[],
  meta: ListMeta,
): Promise<void> {
  const { resource } = request;
  const { descriptor } = resource;
  const apiVersion = apiVersionOf(descriptor);
  const encoding = jsonEncoding(descriptor);
  const skip = itemOffset(descriptor.kind, apiVersion, resource.custom);
  const traces = wantsTraces(request) ? tracesOf(entries) : undefined;
  const head = `{"kind":"${resource.listKind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(resource.custom ? { continue: '', ...meta } : meta)},${
    traces ? `"traces":${JSON.stringify(traces)},` : ''
  }"items":[`;
  await writeInChunks(context, request, {
    head,
    tail: ']}\n',
    count: entries.length,
    item: (i) => {
      const entry = entries[i];
      if (!entry) throw new Error('list changed while it was written');
      const bytes = entry.bytes(encoding);
      // What follows the prefix starts with a comma, whose place the opening brace takes.
      return skip === 0 ? bytes : bytes.subarray(skip + 1);
    },
    opening: skip === 0 ? '' : '{',
  });
}

export const wantsTraces = (request: ResourceRequest): boolean =>
  request.raw.headers['x-tinkernetes-trace'] === '1';

function tracesOf(entries: readonly CacheEntry[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const entry of entries) {
    const { uid } = entry.trace ? entry.object.metadata : {};
    if (uid && entry.trace) out[uid] = entry.trace;
  }
  return out;
}
