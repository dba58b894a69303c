import { loadSchemas } from '@tinkernetes/api';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  goFormat,
  isObject,
} from '@tinkernetes/apimachinery';
import { JsonSyntaxError, parseJson } from '../codec/json-reader';
import { readBody } from '../server/body';
import { unsupportedMediaType } from '../server/decode-body';
import { sendEntry, negotiateObject } from './answer';
import { apply } from './apply';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';
import { checkNamespace } from './create';
import { checkName } from './update';
import { objectInVersion, toStorage } from './presenter';
import { checkPatched, checkPatchedType, decodePatched, showPatched } from './patch-strictness';
import { updateKindOf } from './update-kind';
import { writeContext } from './write-context';
import { patchQuery } from './write-options';

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
  if (type === 'apply') {
    await apply(context, request);
    return;
  }
  const query = patchQuery(request, { apply: false });
  negotiateObject(request);
  const { info, resource } = request;
  const change = await patchFunction(context, request, resource.codec.schemaName);
  const { entry } = await storeOf(request).updateObject(
    {
      name: info.name,
      namespace: request.namespace,
      change: (current) => {
        const patched = change.apply(objectInVersion(resource, current));
        const shown = () => change.show(patched);
        checkPatchedType(request, patched, shown);
        const { object, unknown } = decodePatched(resource.codec, patched, shown);
        checkName(object.metadata.name, info.name);
        checkNamespace(object.metadata.namespace, request.namespace);
        checkPatched(request, shown, unknown, query.fieldValidation);
        return toStorage(resource, object);
      },
    },
    writeContext(context, request, { operation: 'UPDATE', query }),
    updateKindOf(request) ?? 'main',
  );
  const answering = context.clock.now();
  await sendEntry(context, request, 200, entry);
  request.steps?.mark('apiserver.respond', answering);
  request.steps?.finish(entry.object);
};

/** A patch: what it makes of an object, and how messages show the result. */
export interface PatchFunction {
  apply(live: unknown): unknown;
  show(patched: unknown): string;
}

/** The patch in the request's body. */
export async function patchFunction(
  context: EndpointContext,
  request: ResourceRequest,
  schemaName: string | undefined,
): Promise<PatchFunction> {
  const type = patchType(request);
  const change = parsePatch(await readBody(request.raw, context.options.maxRequestBodyBytes));
  const show = (patched: unknown) => showPatched(patched, change, request.resource.custom);
  switch (type) {
    case 'json':
      return { apply: (live) => applyJsonPatch(live, change), show };
    case 'merge':
      if (change === null) throw badRequest('Invalid JSON Patch');
      checkIsObject(change);
      return { apply: (live) => applyMergePatch(live, change), show };
    default:
      if (change !== null) checkIsObject(change);
      if (!schemaName) throw unsupportedMediaType(acceptedTypes(request));
      return {
        apply: (live) => applyStrategicMergePatch(live, change, schemaName, loadSchemas()),
        show: () => goFormat(change),
      };
  }
}

function checkIsObject(change: unknown): void {
  if (isObject(change)) return;
  const type = Array.isArray(change) ? 'array' : typeof change === 'boolean' ? 'bool' : typeof change;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  );
}

const acceptedTypes = ({ resource }: ResourceRequest): string[] =>
  (Object.keys(mediaTypes) as PatchType[])
    .filter((type) => type !== 'strategic' || !resource.custom)
    .map((type) => mediaTypes[type]);

function patchType(request: ResourceRequest): PatchType {
  const mediaType = (request.raw.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  const accepted = acceptedTypes(request);
  const found = (Object.keys(mediaTypes) as PatchType[]).find((type) => mediaTypes[type] === mediaType);
  if (!found || !accepted.includes(mediaType)) throw unsupportedMediaType(accepted);
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
