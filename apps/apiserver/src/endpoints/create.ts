import { badRequest } from '@tinkernetes/apimachinery';
import { checkNegotiable, sendEntry } from './answer';
import type { Endpoint } from './context';
import { storeOf } from './context';
import { toStorage } from './presenter';
import { internalTypeOf } from './internal-type';
import { readTypedObject } from './read-object';
import { writeContext } from './write-context';
import { writeQuery } from './write-options';

/** POST of a new object. */
export const create: Endpoint = async (context, request) => {
  const query = writeQuery(request, 'CreateOptions');
  checkNegotiable(request);
  const { resource } = request;
  const { codec, descriptor } = resource;
  const target = internalTypeOf(descriptor.group, descriptor.kind);
  const object = await readTypedObject(context, request, {
    codec,
    target,
    fieldValidation: query.fieldValidation,
  });
  checkNamespace(object.metadata.namespace, request.namespace);
  const write = writeContext(context, request, { operation: 'CREATE', query });
  const { entry } = await storeOf(request).createObject(toStorage(resource, object), write);
  const answering = context.clock.now();
  await sendEntry(context, request, 201, entry);
  request.steps?.mark('apiserver.respond', answering, { code: 201 });
  request.steps?.finish(entry.object);
};

/**
 * An object's own namespace may be left out but not differ from the request's; of what is in no namespace it does not
 * count. Source: apiserver registry/rest.EnsureObjectNamespaceMatchesRequestNamespace.
 */
export function checkNamespace(given: string | undefined, wanted: string): void {
  if (!given || !wanted || given === wanted) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}
