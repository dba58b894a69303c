import type { KubeObject } from '@tinkernetes/api';
import { applyConfiguration, badRequest, conflict, isObject } from '@tinkernetes/apimachinery';
import { JsonSyntaxError } from '../codec/json-reader';
import { parseYaml } from '../codec/yaml-reader';
import { fieldManagement } from '../registry/generic/field-tracking';
import { readBody } from '../server/body';
import { negotiateObject, sendEntry } from './answer';
import type { Endpoint, ResourceRequest } from './context';
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
  checkConfig(request, config);
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
      namespace: request.namespace,
      change: (current) => applied(objectInVersion(resource, current), false),
      create: info.subresource ? undefined : () => named(request, applied(typing.empty, true)),
      createIfMissing: true,
    },
    write,
    updateKindOf(request) ?? 'main',
  );
  const answering = context.clock.now();
  await sendEntry(context, request, created ? 201 : 200, entry);
  request.steps?.mark('apiserver.respond', answering);
  request.steps?.finish(entry.object);
};

/** An apply that creates: its resourceVersion says nothing, a uid is of an object that is not there. */
function named(request: ResourceRequest, object: KubeObject): KubeObject {
  const { name } = request.info;
  const { resourceVersion: _, ...metadata } = object.metadata;
  if (metadata.uid) {
    throw conflict(
      request.resource.descriptor,
      name,
      `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`,
    );
  }
  return { ...object, metadata: { ...metadata, name } };
}

function checkConfig({ resource, info }: ResourceRequest, config: KubeObject): void {
  const [kind, apiVersion] = [config.kind, config.apiVersion].map((given: unknown) =>
    typeof given === 'string' ? given : '',
  ) as [string, string];
  if (kind !== resource.codec.kind || apiVersion !== resource.codec.apiVersion) {
    const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw badRequest(`invalid object type: ${groupVersion}, Kind=${kind}`);
  }
  const name = config.metadata?.name;
  if (name && name !== info.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
  }
}

/** Null metadata applies none, and takes neither the object's own nor its name away. */
function withoutNullMetadata(config: object): object {
  const { metadata, ...rest } = config as { metadata?: unknown };
  if (metadata === null) return rest;
  if (!isObject(metadata)) return config;
  const given = Object.entries(metadata).filter(([, value]) => value !== null);
  return { ...config, metadata: Object.fromEntries(given) };
}

function parseConfig(body: Buffer): KubeObject {
  try {
    const { value } = parseYaml(body.toString('utf8'));
    return withoutNullMetadata(value ?? {}) as KubeObject;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`, error);
  }
}
