import { badRequest, StatusError } from '@tinkernetes/apimachinery';
import { CompactedError, FutureRevisionError, type RangeResult } from '@tinkernetes/storage';
import type { CacheEntry } from '../cacher/cache-entry';
import { tooLargeResourceVersion } from '../cacher/storage-feed';
import { Slices } from '../server/slices';
import type { GenericStore } from '../registry/generic/generic-store';
import type { ServedResource } from '../registry/generic/served-resource';
import { decodeContinue, encodeContinue } from './continue-token';
import type { EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';
import { parseResourceVersion } from './get';
import type { ListQuery } from './list-options';
import type { ListMeta } from './presenter';
import type { Selection } from './selection';

export interface Page {
  entries: CacheEntry[];
  meta: ListMeta;
}

/** What a list answers with: from the watch cache, or from storage as of an older revision. */
export async function readPage(
  context: EndpointContext,
  request: ResourceRequest,
  selection: Selection,
  query: ListQuery,
): Promise<Page> {
  const store = storeOf(request);
  const { prepare } = request.resource;
  if (query.continue !== '') return await continued(context, store, selection, { ...query, prepare });
  if (query.resourceVersion === '') {
    await context.feed.waitUntilFresh();
  } else {
    const revision = parseResourceVersion(query.resourceVersion, (message) =>
      badRequest(`invalid resource version: resourceVersion: ${message}`),
    );
    const exact =
      query.resourceVersionMatch === 'Exact' ||
      (query.resourceVersionMatch === '' && query.limit > 0 && revision !== 0);
    if (exact) return await asOf(context, store, selection, { ...query, revision, startAfter: '', prepare });
    if (revision > context.feed.revision) await context.feed.waitFor(revision);
  }
  const { revision } = store.cache;
  const candidates = candidatesOf(store, selection);
  if (selection.selective && prepare) await prepare(candidates);
  const slices = new Slices(context.clock);
  // Upstream's cache has no pages: who takes what is there takes all of it.
  const limit = query.resourceVersion === '0' ? 0 : query.limit;
  return await fromCache(store, selection, { limit, revision, candidates, slices });
}

async function fromCache(
  store: GenericStore,
  selection: Selection,
  {
    limit,
    revision,
    candidates,
    slices,
  }: { limit: number; revision: number; candidates: CacheEntry[]; slices: Slices },
): Promise<Page> {
  const isWanted = (entry: CacheEntry) => !selection.selective || selection.matches(entry);
  if (limit === 0) {
    const entries = selection.selective ? await slices.filter(candidates, isWanted) : candidates;
    return { entries, meta: { resourceVersion: String(revision) } };
  }
  const entries: CacheEntry[] = [];
  let at = 0;
  let more = false;
  // One more than is wanted tells whether there are more.
  for (; at < candidates.length && !more; at++) {
    if (slices.areUsedUp) await slices.next();
    const entry = candidates[at];
    if (!entry || !isWanted(entry)) continue;
    if (entries.length === limit) more = true;
    else entries.push(entry);
  }
  return page(store, entries, {
    revision,
    more,
    remaining: selection.selective ? undefined : candidates.length - entries.length,
  });
}

export function candidatesOf({ cache }: GenericStore, { namespace, name }: Selection): CacheEntry[] {
  if (name !== undefined && namespace !== undefined) {
    const entry = cache.get(name, namespace);
    return entry ? [entry] : [];
  }
  return cache.list(namespace);
}

interface PageEnd {
  revision: number;
  more: boolean;
  remaining: number | undefined;
}

function page(store: GenericStore, entries: CacheEntry[], { revision, more, remaining }: PageEnd): Page {
  const last = entries.at(-1);
  const meta: ListMeta = { resourceVersion: String(revision) };
  if (more && last) {
    const startAfter = store.keyOf(last.name, last.namespace).slice(store.options.prefix.length);
    meta.continue = encodeContinue({ revision, startAfter });
    if (remaining !== undefined) meta.remainingItemCount = remaining;
  }
  return { entries, meta };
}

async function continued(
  context: EndpointContext,
  store: GenericStore,
  selection: Selection,
  query: ListQuery & Pick<ServedResource, 'prepare'>,
): Promise<Page> {
  const { revision, startAfter } = decodeContinue(query.continue);
  if (query.resourceVersion !== '' && query.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  return await asOf(context, store, selection, { ...query, revision, startAfter });
}

interface AsOf {
  limit: number;
  /** -1: as it is now. */
  revision: number;
  startAfter: string;
  prepare?: ServedResource['prepare'];
}

async function asOf(
  { storage, feed }: EndpointContext,
  store: GenericStore,
  selection: Selection,
  { limit, revision, startAfter, prepare }: AsOf,
): Promise<Page> {
  const prefix = selection.namespace
    ? `${store.options.prefix}${selection.namespace}/`
    : store.options.prefix;
  const entries: CacheEntry[] = [];
  let after = startAfter ? store.options.prefix + startAfter : undefined;
  let at = revision > 0 ? revision : undefined;
  for (;;) {
    const range: RangeResult = await readRange(
      () => storage.range(prefix, { revision: at, startAfter: after, limit: limit || undefined }),
      { store, startAfter, current: feed.revision },
    );
    at = range.revision;
    const found = range.items.map((item) => store.entryOf(item));
    if (selection.selective) await prepare?.(found);
    const room = limit ? limit - entries.length : Infinity;
    const matching = selection.selective ? found.filter((e) => selection.matches(e)) : found;
    const kept = matching.slice(0, room);
    entries.push(...kept);
    const exhausted = range.count <= range.items.length;
    if (limit && entries.length === limit) {
      const more = !exhausted || matching.length > kept.length;
      const remaining = selection.selective ? undefined : range.count - range.items.length;
      return page(store, entries, { revision: at, more, remaining });
    }
    if (exhausted) return page(store, entries, { revision: at, more: false, remaining: undefined });
    after = range.items.at(-1)?.key;
  }
}

async function readRange(
  read: () => Promise<RangeResult>,
  { store, startAfter, current }: { store: GenericStore; startAfter: string; current: number },
): Promise<RangeResult> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FutureRevisionError) throw tooLargeResourceVersion(error.requested, current);
    if (!(error instanceof CompactedError)) throw error;
    throw expiredList(store, startAfter, error);
  }
}

function expiredList(_store: GenericStore, startAfter: string, cause: CompactedError): StatusError {
  if (!startAfter) {
    return new StatusError('Expired', 'The resourceVersion for the provided list is too old.', { cause });
  }
  const inconsistent = encodeContinue({ revision: -1, startAfter });
  return new ExpiredContinueError(inconsistent, cause);
}

/** 410 with a token that goes on from the same key in the current state. */
class ExpiredContinueError extends StatusError {
  constructor(
    private readonly token: string,
    cause: unknown,
  ) {
    super(
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      { cause },
    );
  }

  override toStatus() {
    return { ...super.toStatus(), metadata: { continue: this.token } };
  }
}
