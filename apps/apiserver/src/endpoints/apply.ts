import type { KubeObject } from '@tinkernetes/api';
import { applyConfiguration, badRequest, conflict, isObject } from '@tinkernetes/apimachinery';
import { JsonSyntaxError } from '../codec/json-reader';
import { parseYaml } from '../codec/yaml-reader';
import { fieldManagement } from '../registry/generic/field-tracking';
import { readBody } from '../server/body';
import { checkNegotiable, sendEntry } from './answer';
import type { Written } from '../registry/generic/store-options';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';
import { objectInVersion, toStorage } from './presenter';
import { updateKindOf } from './update-kind';
import { writeContext } from './write-context';
import { patchQuery, type FieldValidation } from './write-options';

/** Server-side apply. Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
export const apply: Endpoint = async (context, request) => {
  const { codec } = request.resource;
  const { entry, created } = await applyTo(context, request, codec, (config) => config);
  const answering = context.clock.now();
  await sendEntry(context, request, created ? 201 : 200, entry);
  request.steps?.mark('apiserver.respond', answering);
  request.steps?.finish(entry.object);
};

/** Applies the request's body, which has to be of one kind, as `configOf` puts it into the object's own terms. */
export async function applyTo<T extends KubeObject>(
  context: EndpointContext,
  request: ResourceRequest,
  kind: { apiVersion: string; kind: string },
  configOf: (given: T) => KubeObject,
): Promise<Written> {
  const query = patchQuery(request, { apply: true });
  checkNegotiable(request);
  const { info, resource } = request;
  const given = parseConfig(await readBody(request.raw, context.options.maxRequestBodyBytes));
  checkConfig(request, given.config, kind);
  const config = configOf(given.config as T);
  const write = writeContext(context, request, { operation: 'UPDATE', query, isApply: true });
  const typing = resource.typing();
  const applied = (live: KubeObject, isCreate: boolean): KubeObject => {
    const now = context.clock.now();
    const result = applyConfiguration(live, config, {
      ...fieldManagement(typing, write, now),
      isCreate,
      force: query.force ?? false,
    });
    reportDuplicates(request, given.duplicates, query.fieldValidation);
    return toStorage(resource, resource.codec.decode(result).object);
  };
  return await storeOf(request).updateObject(
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
}

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

function checkConfig(
  { info }: ResourceRequest,
  config: KubeObject,
  wanted: { apiVersion: string; kind: string },
): void {
  const [kind, apiVersion] = [config.kind, config.apiVersion].map((given: unknown) =>
    typeof given === 'string' ? given : '',
  ) as [string, string];
  if (kind !== wanted.kind || apiVersion !== wanted.apiVersion) {
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

interface Config {
  config: KubeObject;
  /** Keys that are there twice, in the YAML decoder's words. */
  duplicates: readonly string[];
}

function parseConfig(body: Buffer): Config {
  try {
    const { value, duplicateLines } = parseYaml(body.toString('utf8'));
    return { config: withoutNullMetadata(value ?? {}) as KubeObject, duplicates: duplicateLines };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`, error);
  }
}

/** Upstream looks for them only when the configuration could be applied. */
function reportDuplicates(
  request: ResourceRequest,
  duplicates: readonly string[],
  validation: FieldValidation,
): void {
  if (duplicates.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') {
    const lines = duplicates.map((line) => `\n  ${line}`).join('');
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`,
    );
  }
  for (const line of duplicates) request.warn(line);
}
