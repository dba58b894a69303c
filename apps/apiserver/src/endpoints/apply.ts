import type { KubeObject } from '@tinkernetes/api';
import {
  applyConfiguration,
  badRequest,
  conflict,
  isObject,
  StatusError,
  type Configuration,
} from '@tinkernetes/apimachinery';
import { hasCuts } from '../codec/json-depth';
import { JsonSyntaxError } from '../codec/json-syntax-error';
import { jsonTypeOf } from '../codec/decode-state';
import { unstructuredProblem } from '../codec/unstructured-problem';
import { parseYaml } from '../codec/yaml-reader';
import { fieldManagement } from '../registry/generic/field-tracking';
import { readBody } from '../server/body';
import { checkNegotiable, sendEntry } from './answer';
import type { Written } from '../registry/generic/store-options';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { storeOf } from './context';
import { checkNamespace } from './create';
import { objectInVersion, toStorage } from './presenter';
import { tooDeep } from './read-object';
import { checkName } from './update';
import { updateKindOf } from './update-kind';
import { writeContext } from './write-context';
import { patchQuery, type FieldValidation } from './write-options';

/** Server-side apply. Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
export const apply: Endpoint = async (context, request) => {
  const { apiVersion, kind } = request.resource.codec;
  const { entry, created } = await applyTo(context, request, {
    apiVersion,
    kind,
    configOf: (config) => config,
  });
  const answering = context.clock.now();
  await sendEntry(context, request, created ? 201 : 200, entry);
  request.steps?.mark('apiserver.respond', answering);
  request.steps?.finish(entry.object);
};

/** How a body of some kind is applied to the object. */
export interface ApplyTarget<T extends KubeObject> {
  apiVersion: string;
  kind: string;
  /** The body in the object's own terms. */
  configOf(given: Configuration<T>): Configuration;
  /** Puts right what came of it, or refuses it. */
  settle?(applied: KubeObject): KubeObject;
  /** The version that conflicts name, where it is not the object's own. */
  shownVersion?: string;
}

/** Applies the request's body to the object. */
export async function applyTo<T extends KubeObject>(
  context: EndpointContext,
  request: ResourceRequest,
  { configOf, settle = (applied) => applied, shownVersion, ...kind }: ApplyTarget<T>,
): Promise<Written> {
  const query = patchQuery(request, { apply: true });
  checkNegotiable(request);
  const { info, resource } = request;
  const given = parseConfig(await readBody(request.raw, context.options.maxRequestBodyBytes));
  checkConfig(given.config, kind);
  const config = configOf(given.config as Configuration<T>);
  const write = writeContext(context, request, { operation: 'UPDATE', query, isApply: true });
  const typing = resource.typing();
  const applied = (live: KubeObject, isCreate: boolean): KubeObject => {
    const now = context.clock.now();
    const result = applyConfiguration(live, config, {
      ...fieldManagement(typing, write, now),
      shownVersion,
      isCreate,
      force: query.force ?? false,
    });
    reportDuplicates(request, given.duplicates, query.fieldValidation);
    const object = settle(decodeApplied(resource, result, config));
    if (given.isCut && hasCuts(object)) throw tooDeep();
    checkName(object.metadata.name, info.name);
    checkNamespace(object.metadata.namespace, request.namespace);
    return toStorage(resource, object);
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
  const { resourceVersion: _, ...metadata } = object.metadata;
  if (metadata.uid) {
    throw conflict(
      request.resource.descriptor,
      metadata.name,
      `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`,
    );
  }
  return { ...object, metadata };
}

function checkConfig(config: Configuration, wanted: { apiVersion: string; kind: string }): void {
  const [kind, apiVersion] = [config.kind, config.apiVersion].map((given: unknown) =>
    typeof given === 'string' ? given : '',
  ) as [string, string];
  if (kind === wanted.kind && apiVersion === wanted.apiVersion) return;
  const isNoVersion = apiVersion.split('/').length > 2;
  throw badRequest(`invalid object type: ${isNoVersion ? '/, Kind=' : groupVersionKind(apiVersion, kind)}`);
}

const groupVersionKind = (apiVersion: string, kind: string): string =>
  `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;

/** What was applied as an object of the kind. */
function decodeApplied(
  { codec }: ResourceRequest['resource'],
  applied: KubeObject,
  config: Configuration,
): KubeObject {
  try {
    return codec.decode(applied).object;
  } catch (error) {
    const cause = error instanceof StatusError ? error.cause : undefined;
    if (!(cause instanceof Error)) throw error;
    const gvk = groupVersionKind(codec.apiVersion, codec.kind);
    const { namespace = '', name = '' } = config.metadata ?? {};
    const problem = codec.schemaName ? unstructuredProblem(applied, codec.schemaName) : undefined;
    throw new StatusError(
      'Unknown',
      `failed to convert new object (${namespace}/${name}; ${gvk}) to proper version: unable to convert unstructured object to ${gvk}: ${problem ?? cause.message}`,
      { cause },
    );
  }
}

/** Null metadata applies none, and takes neither the object's own nor its name away. */
function withoutNullMetadata(config: object): object {
  const { metadata, ...rest } = config as { metadata?: unknown };
  if (metadata === null) return rest;
  if (!isObject(metadata)) return config;
  const given = Object.entries(metadata).filter(([key, value]) => value !== null || !identity.has(key));
  return { ...config, metadata: Object.fromEntries(given) };
}

/** What nobody owns of metadata. */
const identity: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
]);

interface Config {
  config: Configuration;
  /** Keys that are there twice, in the YAML decoder's words. */
  duplicates: readonly string[];
  /** Whether something in it lay too deep to be kept. */
  isCut: boolean;
}

function parseConfig(body: Buffer): Config {
  try {
    const { value, duplicateLines, isCut } = parseYaml(body.toString('utf8'));
    if (value !== null && !isObject(value)) throw notAnObject(value);
    return { config: withoutNullMetadata(value ?? {}) as Configuration, duplicates: duplicateLines, isCut };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`, error);
  }
}

const notAnObject = (value: unknown): StatusError =>
  badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`,
  );

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
