import { includeObjectOf } from './table';
import type { CacheEntry } from '../cacher/cache-entry';
import { sendNegotiated } from '../server/respond';
import type { EndpointContext, ResourceRequest } from './context';
import { negotiate, type Negotiated } from './negotiation';
import { internalTypeOf } from './internal-type';
import { presentObject, serialize } from './presenter';

/** Custom resources have no protobuf form. */
export const hasProtobuf = ({ resource }: ResourceRequest): boolean =>
  resource.codec.schemaName !== undefined;

/** Go type of the request's objects, for messages. */
export const targetOf = ({ resource }: ResourceRequest): string =>
  internalTypeOf(resource.descriptor.group, resource.descriptor.kind);

export const negotiateObject = (request: ResourceRequest): Negotiated =>
  negotiate(request.raw.headers.accept, {
    protobuf: hasProtobuf(request),
    scope: 'object',
    target: targetOf(request),
  });

/**
 * Refuses who takes no form of the kind, before anything is done. A list of metadata is not known to be none before there
 * is an object.
 */
export function checkNegotiable(request: ResourceRequest): void {
  negotiate(request.raw.headers.accept, { protobuf: hasProtobuf(request), scope: 'watch' });
}

const newline = Buffer.from('\n');

/** Answers with one stored object. */
export async function sendEntry(
  context: EndpointContext,
  request: ResourceRequest,
  code: number,
  entry: CacheEntry,
): Promise<void> {
  if (request.resource.prepare) await request.resource.prepare([entry]);
  const negotiated = negotiateObject(request);
  const bytes = presentObject(request.resource, entry, negotiated, {
    now: context.clock.now(),
    includeObject: negotiated.transform === 'Table' ? includeObjectOf(request.query) : '',
    version: negotiated.transformVersion ?? 'v1',
    noHeaders: false,
  });
  const isStored = negotiated.format === 'json' && !negotiated.transform;
  sendNegotiated(request.response, code, negotiated, isStored ? Buffer.concat([bytes, newline]) : bytes);
}

/** Answers with any value (Status, Scale …) in a format that the client takes. */
export function sendValue(request: ResourceRequest, code: number, value: object): void {
  const negotiated = negotiate(request.raw.headers.accept, { protobuf: true, scope: 'status' });
  sendNegotiated(request.response, code, negotiated, serialize(value, negotiated));
}
