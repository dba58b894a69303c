import { once } from 'node:events';
import { createGzip, constants, type Gzip } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { jsonType } from '../server/respond';
import type { EndpointContext, ResourceRequest } from './context';

export interface StreamedList {
  head: string;
  tail: string;
  count: number;
  /** Bytes of the i-th item, behind `opening`. */
  item(i: number): Buffer;
  opening: string;
}

/** A chunk is written, and the event loop let go, when this many bytes have come together. */
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
  const separator = Buffer.from(`,${list.opening}`);
  let parts: Buffer[] = [Buffer.from(list.head)];
  let size = parts[0]?.length ?? 0;
  let out: ServerResponse | Gzip | undefined;
  for (let i = 0; i < list.count; i++) {
    const lead = i === 0 ? separator.subarray(1) : separator;
    const bytes = list.item(i);
    parts.push(lead, bytes);
    size += lead.length + bytes.length;
    if (size < chunkSize) continue;
    out ??= open(request);
    const chunk = Buffer.concat(parts, size);
    parts = [];
    size = 0;
    if (!out.write(chunk)) await once(out, 'drain', { signal: request.signal });
    else await context.clock.sleep(0, request.signal);
  }
  const tail = Buffer.from(list.tail);
  parts.push(tail);
  size += tail.length;
  const rest = Buffer.concat(parts, size);
  if (!out && !(size >= gzipThreshold && acceptsGzip(request))) {
    response.writeHead(200, { 'Content-Type': jsonType, 'Content-Length': size });
    response.end(response.req.method === 'HEAD' ? undefined : rest);
    return;
  }
  (out ?? open(request)).end(rest);
}

const acceptsGzip = (request: ResourceRequest): boolean =>
  /\bgzip\b/.test(request.raw.headers['accept-encoding']?.toString() ?? '');

function open(request: ResourceRequest): ServerResponse | Gzip {
  const { response } = request;
  const headers = { 'Content-Type': jsonType, Vary: 'Accept-Encoding' };
  if (!acceptsGzip(request)) {
    response.writeHead(200, headers);
    return response;
  }
  response.writeHead(200, { ...headers, 'Content-Encoding': 'gzip' });
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  gzip.pipe(response);
  return gzip;
}
