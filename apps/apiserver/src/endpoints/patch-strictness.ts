import type { ObjectMeta } from '@tinkernetes/api';
import { invalid, invalidError, isObject, setOwn, StatusError } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { schemaCodec, type DecodedObject, type ObjectCodec } from '../codec/object-codec';
import { orderedMetadata } from '../registry/generic/stored-codec';
import { unstructuredProblem } from '../codec/unstructured-problem';
import { escapedForHtml } from '../server/go-json';
import { typeMetaProblem } from '../server/decode-body';
import type { ResourceRequest } from './context';
import type { PatchTarget } from './patch-document';
import type { FieldValidation } from './write-options';

type JsonObject = Record<string, unknown>;

/**
 * A patched object as upstream's messages show it: what a merge has touched was a map, which Go writes with sorted
 * keys; the rest are the bytes from before.
 */
export function showPatched(patched: unknown, change: unknown, custom: boolean): string {
  return escapedForHtml(
    JSON.stringify(custom ? sorted(patched, undefined) : sorted(patched, touchedBy(change))),
  );
}

/** What a patch goes through: a merge patch all that it has, a JSON patch what leads to its targets. */
function touchedBy(change: unknown): JsonObject {
  if (!Array.isArray(change)) return isObject(change) ? change : {};
  const root: JsonObject = {};
  for (const operation of change as unknown[]) {
    if (!isObject(operation)) continue;
    for (const pointer of [operation.path, operation.from]) {
      if (typeof pointer === 'string') goThrough(root, pointer.split('/').slice(1, -1));
    }
  }
  return root;
}

function goThrough(root: JsonObject, keys: readonly string[]): void {
  let at = root;
  for (const escaped of keys) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const known = Object.hasOwn(at, key) ? at[key] : undefined;
    const next = isObject(known) ? known : {};
    setOwn(at, key, next);
    at = next;
  }
}

/** Sorted as far as `touched` goes; all the way down where it is undefined. */
function sorted(value: unknown, touched: Readonly<JsonObject> | undefined): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, i) => {
      if (!touched) return sorted(item, undefined);
      const below = touched[i];
      return isObject(below) ? sorted(item, below) : item;
    });
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, inner]) => {
      if (!touched) return [key, sorted(inner, undefined)];
      const below = touched[key];
      if (isObject(below)) return [key, sorted(inner, below)];
      return [
        key,
        key === 'metadata' && isObject(inner) ? orderedMetadata(inner as unknown as ObjectMeta) : inner,
      ];
    }),
  );
}

/** A patch may not make another kind of the object. True where it leaves no version to read it by. */
export function checkPatchedType(
  { codec, internalType, custom }: Pick<PatchTarget, 'codec' | 'internalType' | 'custom'>,
  patched: unknown,
  shown: () => string,
): boolean {
  const problem = typeMetaProblem(patched);
  if (problem)
    throw invalidPatch(
      shown(),
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${problem}`,
    );
  const given = patched as { kind?: string | null; apiVersion?: string | null };
  if (custom) {
    checkCustomType(given, codec, shown);
    return false;
  }
  const kind = given.kind || codec.kind;
  const apiVersion = given.apiVersion || '';
  if (apiVersion === '') return true;
  if (kind === codec.kind && apiVersion === codec.apiVersion) return false;
  // It has to be a sound object of that other kind before anything tries to convert it.
  const other = schemaCodec(apiVersion, kind);
  if (other) decodePatched(other, patched, { shown, strategic: false });
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  throw invalidPatch(
    shown(),
    other
      ? `converting (${version}.${kind}) to (${internalType}): unknown conversion`
      : `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function noVersion(): StatusError {
  const message = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
  return new StatusError('InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
  });
}

/** A custom resource's type is a value like others, which validation finds to be another. */
function checkCustomType(
  { kind, apiVersion, ...rest }: { kind?: string | null; apiVersion?: string | null; metadata?: unknown },
  codec: ObjectCodec,
  shown: () => string,
): void {
  if (!kind) throw invalidPatch(shown(), `Object 'Kind' is missing in '${shown()}'`);
  if (!apiVersion) throw noVersion();
  const errors = customTypeErrors({ kind, apiVersion }, codec);
  if (errors.length === 0) return;
  const { name } = (isObject(rest.metadata) ? rest.metadata : {}) as { name?: unknown };
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  throw invalidError({ group, kind }, typeof name === 'string' ? name : '', errors);
}

export const customTypeErrors = (
  given: { kind: string; apiVersion: string },
  codec: Pick<ObjectCodec, 'kind' | 'apiVersion'>,
): FieldError[] =>
  (['kind', 'apiVersion'] as const)
    .filter((field) => given[field] !== codec[field])
    .map((field) => invalid(field, given[field], `must be ${codec[field]}`));

const invalidPatch = (shown: string, reason: string): StatusError =>
  invalidError({ group: '', kind: '' }, '', [invalid('patch', shown, reason)]);

/** What no longer fits its kind is the patch's fault. */
export function decodePatched(
  codec: ObjectCodec,
  patched: unknown,
  { shown, strategic }: { shown: () => string; strategic: boolean },
): DecodedObject {
  try {
    return codec.decode(patched, { keepsEmpty: true });
  } catch (error) {
    const cause = error instanceof StatusError ? error.cause : undefined;
    if (!(cause instanceof Error)) throw error;
    const problem =
      strategic && codec.schemaName ? unstructuredProblem(patched, codec.schemaName) : undefined;
    throw invalidPatch(shown(), problem ?? cause.message);
  }
}

/** Fields that a patch has twice, or where the kind has no place for them. */
export function reportPatched(
  request: ResourceRequest,
  errors: readonly string[],
  { shown, fieldValidation }: { shown: () => string; fieldValidation: FieldValidation },
): void {
  if (errors.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Warn') {
    for (const error of errors) request.warn(error);
    return;
  }
  throw invalidPatch(shown(), `strict decoding error: ${errors.join(', ')}`);
}
