import { once } from 'node:events';
import { createGzip, constants, type Gzip } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { ByteSink } from '../cacher/byte-sink';
import { Slices } from '../server/slices';
import type { EndpointContext, ResourceRequest } from './context';

/** A list as its bytes follow each other. */
export interface StreamedList {
  contentType: string;
  head: Buffer;
  tail: Buffer;
  count: number;
  /** Adds the i-th item, and what separates it from the one before. */
  append(i: number, sink: ByteSink): void;
}

/** A chunk is written when this many bytes have come together. */
const chunkSize = 256 * 1024;
/** Room for the item with which a chunk becomes that large. */
const chunkRoom = 16 * 1024;
/** For few items no whole chunk is made ready. */
const expectedItemSize = 3 * 1024;
/** Upstream compresses answers from this size on. */
const gzipThreshold = 128 * 1024;

/**
 * Writes a list from its items' bytes, a chunk at a time, so that however long it is neither memory nor the event
 * loop is held up.
 */
export async function writeInChunks(
  context: EndpointContext,
  request: ResourceRequest,
  list: StreamedList,
): Promise<void> {
  const { response } = request;
  const slices = new Slices(context.clock);
  const expected = list.head.length + list.tail.length + list.count * expectedItemSize;
  const sink = new ByteSink(Math.min(expected, chunkSize + chunkRoom));
  sink.add(list.head);
  let out: ServerResponse | Gzip | undefined;
  for (let i = 0; i < list.count; i++) {
    list.append(i, sink);
    if (slices.areUsedUp) await slices.next();
    if (sink.length < chunkSize) continue;
    out ??= open(request, list.contentType);
    if (!out.write(sink.take())) await once(out, 'drain', { signal: request.signal });
  }
  sink.add(list.tail);
  const rest = sink.take();
  if (!out && !(rest.length >= gzipThreshold && acceptsGzip(request))) {
    response.writeHead(200, { 'Content-Type': list.contentType, 'Content-Length': rest.length });
    response.end(response.req.method === 'HEAD' ? undefined : rest);
    return;
  }
  (out ?? open(request, list.contentType)).end(rest);
}

const acceptsGzip = (request: ResourceRequest): boolean =>
  /\bgzip\b/.test(request.raw.headers['accept-encoding']?.toString() ?? '');

function open(request: ResourceRequest, contentType: string): ServerResponse | Gzip {
  const { response } = request;
  const headers = { 'Content-Type': contentType, Vary: 'Accept-Encoding' };
  if (!acceptsGzip(request)) {
    response.writeHead(200, headers);
    return response;
  }
  response.writeHead(200, { ...headers, 'Content-Encoding': 'gzip' });
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  gzip.pipe(response);
  return gzip;
}
