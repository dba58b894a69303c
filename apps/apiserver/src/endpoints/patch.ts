import { checkNegotiable, sendEntry } from './answer';
import { apply } from './apply';
import type { Endpoint } from './context';
import { storeOf } from './context';
import { checkNamespace } from './create';
import { internalTypeOf } from './internal-type';
import { readPatch } from './patch-document';
import { patchType } from './patch-type';
import { objectInVersion, toStorage } from './presenter';
import { checkName } from './update';
import { updateKindOf } from './update-kind';
import { writeContext } from './write-context';
import { patchQuery } from './write-options';

/** PATCH of an object, or of its status, in any of the patch types. */
export const patch: Endpoint = async (context, request) => {
  if (patchType(request) === 'apply') {
    await apply(context, request);
    return;
  }
  const query = patchQuery(request, { apply: false });
  checkNegotiable(request);
  const { info, resource } = request;
  const { codec, custom, descriptor } = resource;
  const change = await readPatch(context, request, {
    codec,
    custom,
    internalType: internalTypeOf(descriptor.group, descriptor.kind),
    fieldValidation: query.fieldValidation,
  });
  const { entry } = await storeOf(request).updateObject(
    {
      name: info.name,
      namespace: request.namespace,
      change: (current) => {
        const object = change.apply(objectInVersion(resource, current));
        checkName(object.metadata.name, info.name);
        checkNamespace(object.metadata.namespace, request.namespace);
        return toStorage(resource, object);
      },
    },
    writeContext(context, request, { operation: 'UPDATE', query, dedupsLate: true }),
    updateKindOf(request) ?? 'main',
  );
  const answering = context.clock.now();
  await sendEntry(context, request, 200, entry);
  request.steps?.mark('apiserver.respond', answering);
  request.steps?.finish(entry.object);
};
