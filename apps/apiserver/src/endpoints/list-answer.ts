import type { CacheEntry } from '../cacher/cache-entry';
import { storedUid } from '../registry/generic/stored-codec';
import { Slices } from '../server/slices';
import type { EndpointContext, ResourceRequest } from './context';
import type { Page } from './list-page';
import { wantsPretty } from '../server/go-json';
import { indentedList, plainJsonList, protobufList, transformedJsonList, yamlList } from './list-stream';
import type { Negotiated } from './negotiation';
import { writeInChunks, type StreamedList } from './streamed-write';

/** Answers with a list, as the client asked to see it. */
export async function sendList(
  context: EndpointContext,
  request: ResourceRequest,
  { entries, meta }: Page,
  { negotiated, includeObject }: { negotiated: Negotiated; includeObject: string },
): Promise<void> {
  const { resource } = request;
  await resource.prepare?.(entries);
  const table = {
    now: context.clock.now(),
    includeObject,
    version: negotiated.transformVersion ?? 'v1',
    noHeaders: false,
  };
  const parts = { resource, entries, meta };
  if (negotiated.format === 'yaml') {
    await writeInChunks(context, request, yamlList(parts, negotiated, table));
  } else if (negotiated.format === 'protobuf') {
    const slices = new Slices(context.clock);
    await writeInChunks(context, request, await protobufList(parts, { negotiated, table, slices }));
  } else if (negotiated.transform) {
    await writeJson(context, request, transformedJsonList(parts, negotiated, table));
  } else {
    const traces = wantsTraces(request) ? tracesOf(entries) : undefined;
    await writeJson(context, request, plainJsonList(parts, traces));
  }
}

const writeJson = (context: EndpointContext, request: ResourceRequest, list: StreamedList): Promise<void> =>
  writeInChunks(context, request, wantsPretty(request.raw) ? indentedList(list) : list);

export const wantsTraces = (request: ResourceRequest): boolean =>
  request.raw.headers['x-tinkernetes-trace'] === '1';

function tracesOf(entries: readonly CacheEntry[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const entry of entries) if (entry.trace) out[storedUid(entry)] = entry.trace;
  return out;
}
