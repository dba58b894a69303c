import { notFound, StatusError } from '@tinkernetes/apimachinery';
import { sendEntry } from './answer';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';

/** GET of one object (or its status). */
export const get: Endpoint = async (context, request) => {
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

/** Throws for anything but a whole number; lists answer it with 400, gets with 500. */
export function parseResourceVersion(text: string, refuse: (message: string) => StatusError): number {
  if (!/^\d{1,16}$/.test(text)) {
    throw refuse(
      `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}
