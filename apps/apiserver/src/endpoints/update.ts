import type { KubeObject } from '@tinkernetes/api';
import { badRequest, conflict } from '@tinkernetes/apimachinery';
import { checkNegotiable, sendEntry } from './answer';
import type { Endpoint, ResourceRequest } from './context';
import { storeOf } from './context';
import { checkNamespace } from './create';
import { toStorage } from './presenter';
import { internalTypeOf } from './internal-type';
import { readTypedObject } from './read-object';
import { updateKindOf } from './update-kind';
import { writeContext } from './write-context';
import { writeQuery } from './write-options';

/** PUT of an object, or of its status. */
export const update: Endpoint = async (context, request) => {
  const query = writeQuery(request, 'UpdateOptions');
  checkNegotiable(request);
  const { resource, info } = request;
  const { codec, descriptor } = resource;
  const target = internalTypeOf(descriptor.group, descriptor.kind);
  const object = await readTypedObject(context, request, {
    codec,
    target,
    fieldValidation: query.fieldValidation,
  });
  checkNamespace(object.metadata.namespace, request.namespace);
  checkName(object.metadata.name, info.name);
  const stored = toStorage(resource, object);
  const { entry, created } = await storeOf(request).updateObject(
    {
      name: info.name,
      namespace: request.namespace,
      change: () => stored,
      create: info.subresource ? undefined : () => unversioned(request, stored),
      failOnConflict: Boolean(object.metadata.resourceVersion),
      replaces: true,
    },
    writeContext(context, request, { operation: 'UPDATE', query }),
    updateKindOf(request) ?? 'main',
  );
  const answering = context.clock.now();
  await sendEntry(context, request, created ? 201 : 200, entry);
  request.steps?.mark('apiserver.respond', answering);
  request.steps?.finish(entry.object);
};

/** The object's own name has to be the one in the URL. */
export function checkName(given: string, wanted: string): void {
  if (given === wanted) return;
  throw badRequest(
    given
      ? `the name of the object (${given}) does not match the name on the URL (${wanted})`
      : `the name of the object (${wanted} based on URL) was undeterminable: name must be provided`,
  );
}

/** A PUT that creates: the version that it names says nothing, and a uid is of an object that is not there. */
function unversioned(request: ResourceRequest, object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  const { name, uid } = metadata;
  if (!uid) return { ...object, metadata };
  throw conflict(
    request.resource.descriptor,
    name,
    `StorageError: invalid object, Code: 4, Key: ${storeOf(request).keyOf(name, request.namespace)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: `,
  );
}
