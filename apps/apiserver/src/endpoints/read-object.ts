import type { KubeObject } from '@tinkernetes/api';
import { badRequest, invalidError, type StatusError } from '@tinkernetes/apimachinery';
import { hasCuts, maxDepth } from '../codec/json-depth';
import { schemaCodec, type ObjectCodec } from '../codec/object-codec';
import { bodyFormat, excerpt, parseBody, unrecognized } from '../server/decode-body';
import { readBody } from '../server/body';
import type { EndpointContext, ResourceRequest } from './context';
import { customTypeErrors } from './patch-strictness';
import type { FieldValidation } from './write-options';

export interface ReadOptions {
  codec: ObjectCodec;
  /** Go type of the internal object, for messages: `apps.Deployment`. */
  target: string;
  fieldValidation: FieldValidation;
}

/** Reads and decodes the body of a create or update, as one kind. */
export async function readTypedObject(
  context: EndpointContext,
  request: ResourceRequest,
  options: ReadOptions,
): Promise<KubeObject> {
  const { codec, fieldValidation } = options;
  const format = bodyFormat(request.raw.headers['content-type']);
  const body = await readBody(request.raw, context.options.maxRequestBodyBytes);
  const started = context.clock.now();
  const { value, duplicates, duplicateLines, isCut } = parseBody(body, format, codec.kind);
  if (request.resource.custom) checkHasKind(value, body, codec);
  checkType(value, options, request.resource.custom);
  const { object, unknown } = codec.decode(value, { keepsEmpty: true });
  if (isCut && hasCuts(object)) throw tooDeep();
  const strict = duplicateLines
    ? [...inOneError(duplicateLines), ...[...unknown].sort()]
    : [...duplicates.map((field) => `duplicate field "${field}"`), ...unknown];
  reportStrict(strict, options, request);
  request.steps?.mark('apiserver.decode', started, { format, fieldValidation });
  return object;
}

/** Refuses a body of another kind or version than the codec's; one that names none is taken for it. */
export function checkType(
  value: unknown,
  { codec, target }: Pick<ReadOptions, 'codec' | 'target'>,
  custom: boolean,
): void {
  const given = (value ?? {}) as { kind?: unknown; apiVersion?: unknown };
  if (custom) {
    checkCustomType(given, codec);
    return;
  }
  const kind = typeof given.kind === 'string' && given.kind ? given.kind : codec.kind;
  const apiVersion =
    typeof given.apiVersion === 'string' && given.apiVersion ? given.apiVersion : codec.apiVersion;
  if (kind === codec.kind && apiVersion === codec.apiVersion) return;
  throw wrongType(kind, apiVersion, { codec, target });
}

/** Of a custom resource the version is looked at before anything else; another kind is a value that is not right. */
function checkCustomType(
  value: { kind?: unknown; apiVersion?: unknown; metadata?: unknown },
  codec: ObjectCodec,
): void {
  const apiVersion = typeof value.apiVersion === 'string' ? value.apiVersion : '';
  if (apiVersion !== codec.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${codec.apiVersion})`,
    );
  }
  const kind = typeof value.kind === 'string' ? value.kind : '';
  const errors = customTypeErrors({ kind, apiVersion }, codec);
  const name = (value.metadata as { name?: unknown } | undefined)?.name;
  const group = apiVersion.slice(0, apiVersion.indexOf('/'));
  if (errors.length > 0) throw invalidError({ group, kind }, typeof name === 'string' ? name : '', errors);
}

/** Nothing tells what an object without a kind is. */
function checkHasKind(value: unknown, body: Buffer, codec: ObjectCodec): void {
  const { kind } = (value ?? {}) as { kind?: unknown };
  if (typeof kind === 'string' && kind) return;
  throw unrecognized(codec.kind, `Object 'Kind' is missing in '${body.toString('utf8')}' (${excerpt(body)})`);
}

/** Upstream keeps what is up to 10,000 levels deep; here nothing is stored that is not whole. */
export const tooDeep = (): StatusError => badRequest(`nested more than ${maxDepth} levels deep`);

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));

/** Upstream serves these by servers of their own, which know no kinds but their own. */
const apartGroups: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** Why a body of this kind isn't taken as one of the codec's. Exported for its tests. */
export function wrongType(
  kind: string,
  apiVersion: string,
  { codec, target }: Pick<ReadOptions, 'codec' | 'target'>,
): StatusError {
  const group = groupOf(apiVersion);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  const isApart = apartGroups.has(groupOf(codec.apiVersion));
  const isOwn = kind === codec.kind || kind === `${codec.kind}List`;
  if (isApart && isOwn && group === groupOf(codec.apiVersion) && version === 'v1beta1') {
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${codec.apiVersion})`,
    );
  }
  const isSame = apiVersion === codec.apiVersion;
  const isKnown = isApart ? isSame && isOwn : isSame || schemaCodec(apiVersion, kind) !== undefined;
  const reason = isKnown
    ? `converting (${version}.${kind}) to (${target}): unknown conversion`
    : `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${codec.kind}: ${reason}`);
}

const yamlErrors = 'yaml: unmarshal errors:\n  ';

/** The YAML decoder tells all the keys that it has met twice at once. */
const inOneError = (lines: readonly string[]): string[] =>
  lines.length > 0 ? [`${yamlErrors}${lines.join('\n  ')}`] : [];

const linesOf = (error: string): string[] =>
  error.startsWith(yamlErrors) ? error.slice(yamlErrors.length).split('\n  ') : [error];

function reportStrict(errors: readonly string[], options: ReadOptions, request: ResourceRequest): void {
  if (errors.length === 0 || options.fieldValidation === 'Ignore') return;
  if (options.fieldValidation === 'Warn') {
    for (const error of errors) for (const line of linesOf(error)) request.warn(line);
    return;
  }
  const { kind, apiVersion } = options.codec;
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${errors.join(', ')}`,
  );
}
