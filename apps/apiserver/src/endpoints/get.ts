import { notFound, StatusError } from '@tinkernetes/apimachinery';
import { uint64Problem } from '../codec/go-integers';
import { checkNegotiable, sendEntry } from './answer';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';

/** GET of one object (or its status). */
export const get: Endpoint = async (context, request) => {
  checkNegotiable(request);
  const entry = await currentEntry(context, request);
  await sendEntry(context, request, 200, entry);
};

/** The object that the request names, as new as it asks. */
export async function currentEntry(context: EndpointContext, request: ResourceRequest) {
  const store = storeOf(request);
  const { name } = request.info;
  const { namespace } = request;
  const asked = request.query.get('resourceVersion') ?? '';
  if (asked === '') return await store.entry(name, namespace);
  const revision = parseResourceVersion(
    asked,
    (message) => new StatusError('Unknown', `resourceVersion: ${message}`),
  );
  if (revision > context.feed.revision) await context.feed.waitFor(revision);
  const entry = store.cache.get(name, namespace);
  if (!entry) throw notFound(request.resource.descriptor, name);
  return entry;
}

/** Throws for anything but a whole number of 64 bits; lists answer it with 400, gets and watches with 500. */
export function parseResourceVersion(text: string, refuse: (message: string) => StatusError): number {
  const problem = uint64Problem(text);
  if (!problem) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  const quoted = JSON.stringify(text);
  throw refuse(`Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${problem}`);
}
