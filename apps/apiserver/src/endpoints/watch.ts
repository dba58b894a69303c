import { StatusError } from '@tinkernetes/apimachinery';
import { includeObjectOf } from './table';
import type { CacheEntry } from '../cacher/cache-entry';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';
import { parseResourceVersion } from './get';
import { wantsTraces } from './list-answer';
import { candidatesOf } from './list-page';
import { listQuery, type ListQuery } from './list-options';
import { hasProtobuf } from './answer';
import { negotiate } from './negotiation';
import { selectionOf, type Selection } from './selection';
import { WatchFrames } from './watch-frames';
import { WatchStream } from './watch-stream';

/** GET of a collection with watch=true. */
export const watch: Endpoint = async (context, request) => {
  const query = listQuery(request, { watch: true });
  const negotiated = negotiate(request.raw.headers.accept, {
    protobuf: hasProtobuf(request),
    scope: 'watch',
  });
  if (negotiated.format === 'yaml') throw notStreamed(hasProtobuf(request), request.raw.headers.accept);
  const selection = negotiated.transform === 'PartialObjectMetadataList' ? nothing : selectionOf(request);
  const start = await startOf(context, request, query);
  const frames = new WatchFrames(request.resource, negotiated, {
    traces: wantsTraces(request),
    includeObject: negotiated.transform === 'Table' ? includeObjectOf(request.query) : '',
    clock: context.clock,
  });
  const stream = new WatchStream(context, request, { frames, selection, query });
  if (start.initial) await request.resource.prepare?.(start.initial);
  stream.open();
  if (start.initial) await stream.initial(start.initial);
  if (query.sendInitialEvents && query.allowWatchBookmarks) stream.endOfInitialEvents(start.revision);
  stream.follow(start.revision);
  await stream.done;
};

/** Events follow each other as JSON or protobuf only. */
function notStreamed(protobuf: boolean, accept = ''): StatusError {
  const asksForStream = /;\s*stream=/.test(accept);
  const suffix = asksForStream ? '' : ';stream=watch';
  const types = [
    'application/json',
    ...(asksForStream ? ['application/yaml'] : []),
    ...(protobuf ? ['application/vnd.kubernetes.protobuf'] : []),
  ];
  const text = types.map((type) => `${type}${suffix}`).join(', ');
  return new StatusError('NotAcceptable', `only the following media types are accepted: ${text}`);
}

/** Upstream lets a watch ask for a list of metadata, and then has nothing to show. */
const nothing: Selection = { namespace: undefined, name: undefined, selective: true, matches: () => false };

interface WatchStart {
  revision: number;
  /** What is there already, to be sent as ADDED. */
  initial?: CacheEntry[];
}

async function startOf(
  context: EndpointContext,
  request: ResourceRequest,
  query: ListQuery,
): Promise<WatchStart> {
  const { feed } = context;
  const store = storeOf(request);
  const wanted =
    query.resourceVersion === ''
      ? undefined
      : parseResourceVersion(
          query.resourceVersion,
          (message) => new StatusError('Unknown', `resourceVersion: ${message}`),
        );
  if (wanted === undefined) await feed.waitUntilFresh();
  else if (wanted > feed.revision && query.sendInitialEvents) await feed.waitFor(wanted);
  const initial = query.sendInitialEvents ?? !wanted;
  const revision = store.cache.revision;
  if (initial) return { revision, initial: candidatesOf(store, selectionOf(request)) };
  if (!wanted) return { revision };
  return { revision: wanted };
}
