import { once } from 'node:events';
import { createGzip, constants, type Gzip } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { Slices } from '../server/slices';
import type { EndpointContext, ResourceRequest } from './context';

/** A list as its bytes follow each other. */
export interface StreamedList {
  contentType: string;
  head: Buffer;
  tail: Buffer;
  count: number;
  /** Before the i-th item. */
  lead(i: number): Buffer;
  item(i: number): Buffer;
}

/** A chunk is written when this many bytes have come together. */
const chunkSize = 256 * 1024;
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
  let parts: Buffer[] = [list.head];
  let size = list.head.length;
  let out: ServerResponse | Gzip | undefined;
  for (let i = 0; i < list.count; i++) {
    const [lead, bytes] = [list.lead(i), list.item(i)];
    parts.push(lead, bytes);
    size += lead.length + bytes.length;
    if (slices.areUsedUp) await slices.next();
    if (size < chunkSize) continue;
    out ??= open(request, list.contentType);
    const chunk = Buffer.concat(parts, size);
    parts = [];
    size = 0;
    if (!out.write(chunk)) await once(out, 'drain', { signal: request.signal });
  }
  parts.push(list.tail);
  size += list.tail.length;
  const rest = Buffer.concat(parts, size);
  if (!out && !(size >= gzipThreshold && acceptsGzip(request))) {
    response.writeHead(200, { 'Content-Type': list.contentType, 'Content-Length': size });
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
