import type { KubeObject } from '@tinkernetes/api';
import { deleteObject } from '../registry/generic/deletion';
import { sendEntry, sendValue, checkNegotiable } from './answer';
import type { Endpoint, ResourceRequest } from './context';
import { storeOf } from './context';
import { readDeleteOptions } from './delete-options';
import { writeContext } from './write-context';

/** DELETE of one object. */
export const deleteOne: Endpoint = async (context, request) => {
  checkNegotiable(request);
  const options = await readDeleteOptions(context, request);
  const { info, resource } = request;
  const query = { dryRun: options.dryRun, fieldManager: '' };
  const write = writeContext(context, request, { operation: 'DELETE', query, options: options.raw });
  const { entry, deleted } = await deleteObject(
    storeOf(request),
    { name: info.name, namespace: request.namespace },
    options,
    write,
  );
  const accepted = !deleted && options.orphanDependents === false;
  if (deleted && !resource.strategy.returnDeletedObject)
    sendValue(request, 200, deletedStatus(request, entry.object));
  else await sendEntry(context, request, accepted ? 202 : 200, entry);
};

/** What a DELETE that took effect at once answers. */
function deletedStatus(request: ResourceRequest, object: KubeObject): object {
  const { group, resource } = request.resource.descriptor;
  const { name, uid } = object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group ? { group } : undefined), kind: resource, uid },
  };
}
