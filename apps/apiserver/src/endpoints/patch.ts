import { loadSchemas, type KubeObject } from '@tinkernetes/api';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  StatusError,
} from '@tinkernetes/apimachinery';
import { JsonSyntaxError, parseJson } from '../codec/json-reader';
import { readBody } from '../server/body';
import { unsupportedMediaType } from '../server/decode-body';
import { sendEntry, negotiateObject } from './answer';
import type { Endpoint, ResourceRequest } from './context';
import { storeOf } from './context';
import { objectInVersion } from './presenter';
import { writeContext } from './write-context';
import { writeQuery } from './write-options';

const mediaTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
type PatchType = keyof typeof mediaTypes;

/** PATCH of an object, or of its status, in any of the patch types. */
export const patch: Endpoint = async (context, request) => {
  const type = patchType(request);
  const query = writeQuery(request, 'PatchOptions');
  negotiateObject(request);
  const { info, resource } = request;
  const body = await readBody(request.raw, context.options.maxRequestBodyBytes);
  const change = parsePatch(body);
  const { entry } = await storeOf(request).updateObject(
    {
      name: info.name,
      namespace: info.namespace,
      change: (current) => {
        const live = objectInVersion(resource, current);
        return resource.codec.decode(applyTo(live, type, change, request)).object;
      },
    },
    writeContext(context, request, { operation: 'UPDATE', query }),
    info.subresource === 'status' ? 'status' : 'main',
  );
  sendEntry(context, request, 200, entry);
};

function patchType(request: ResourceRequest): PatchType {
  const mediaType = (request.raw.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  const found = (Object.keys(mediaTypes) as PatchType[]).find((type) => mediaTypes[type] === mediaType);
  const allowed = (Object.keys(mediaTypes) as PatchType[]).filter(
    (t) => t !== 'strategic' || !request.resource.custom,
  );
  if (!found || !allowed.includes(found)) throw unsupportedMediaType(allowed.map((type) => mediaTypes[type]));
  return found;
}

function parsePatch(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8')).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding patch: ${error.message}`, error);
  }
}

function applyTo(live: KubeObject, type: PatchType, change: unknown, request: ResourceRequest): unknown {
  switch (type) {
    case 'json':
      return applyJsonPatch(live, change);
    case 'merge':
      return applyMergePatch(live, change);
    case 'strategic': {
      const { schemaName } = request.resource.codec;
      if (!schemaName) throw unsupportedMediaType([mediaTypes.json, mediaTypes.merge, mediaTypes.apply]);
      return applyStrategicMergePatch(live, change, schemaName, loadSchemas());
    }
    case 'apply':
      throw new StatusError('UnsupportedMediaType', 'apply patches are not served yet');
  }
}
