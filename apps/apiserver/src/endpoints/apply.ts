import type { KubeObject } from '@tinkernetes/api';
import { applyConfiguration, badRequest } from '@tinkernetes/apimachinery';
import { JsonSyntaxError } from '../codec/json-reader';
import { parseYaml } from '../codec/yaml-reader';
import { fieldManagement } from '../registry/generic/field-tracking';
import { readBody } from '../server/body';
import { negotiateObject, sendEntry } from './answer';
import type { Endpoint } from './context';
import { storeOf } from './context';
import { objectInVersion, toStorage } from './presenter';
import { updateKindOf } from './update-kind';
import { writeContext } from './write-context';
import { patchQuery } from './write-options';

/** Server-side apply. Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
export const apply: Endpoint = async (context, request) => {
  const query = patchQuery(request, { apply: true });
  negotiateObject(request);
  const { info, resource } = request;
  const config = parseConfig(await readBody(request.raw, context.options.maxRequestBodyBytes));
  const write = writeContext(context, request, { operation: 'UPDATE', query, isApply: true });
  const typing = resource.typing();
  const applied = (live: KubeObject, isCreate: boolean): KubeObject => {
    const now = context.clock.now();
    const result = applyConfiguration(live, config, {
      ...fieldManagement(typing, write, now),
      isCreate,
      force: query.force ?? false,
    });
    return toStorage(resource, resource.codec.decode(result).object);
  };
  const { entry, created } = await storeOf(request).updateObject(
    {
      name: info.name,
      namespace: info.namespace,
      change: (current) => applied(objectInVersion(resource, current), false),
      create: info.subresource ? undefined : () => named(applied(typing.empty, true), info.name),
      createIfMissing: true,
    },
    write,
    updateKindOf(request) ?? 'main',
  );
  sendEntry(context, request, created ? 201 : 200, entry);
};

function named(object: KubeObject, name: string): KubeObject {
  if (object.metadata.name && object.metadata.name !== name) {
    throw badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  return { ...object, metadata: { ...object.metadata, name } };
}

function parseConfig(body: Buffer): KubeObject {
  try {
    return parseYaml(body.toString('utf8')).value as KubeObject;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`, error);
  }
}
