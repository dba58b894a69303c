import type { ObjectMeta } from '@tinkernetes/api';
import { invalid, invalidError, isObject, setOwn, StatusError } from '@tinkernetes/apimachinery';
import { schemaCodec, type DecodedObject, type ObjectCodec } from '../codec/object-codec';
import { orderedMetadata } from '../registry/generic/stored-codec';
import type { ResourceRequest } from './context';
import type { FieldValidation } from './write-options';

type JsonObject = Record<string, unknown>;

/**
 * A patched object as upstream's messages show it: what a merge has touched was a map, which Go writes with sorted
 * keys; the rest are the bytes from before.
 */
export function showPatched(patched: unknown, change: unknown, custom: boolean): string {
  return JSON.stringify(custom ? sorted(patched, undefined) : sorted(patched, touchedBy(change)));
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

/** A patch may not make another kind of the object. */
export function checkPatchedType(request: ResourceRequest, patched: unknown, shown: () => string): void {
  const { codec } = request.resource;
  const { kind, apiVersion } = patched as { kind?: unknown; apiVersion?: unknown };
  if (kind === codec.kind && apiVersion === codec.apiVersion) return;
  // It has to be a sound object of that other kind before anything tries to convert it.
  const other = schemaCodec(String(apiVersion), String(kind));
  if (other && apiVersion === codec.apiVersion) decodePatched(other, patched, shown);
  const reason =
    apiVersion === codec.apiVersion
      ? `converting (${String(kind)}) to (${codec.kind}): unknown conversion`
      : `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`;
  throw invalidError({ group: '', kind: '' }, '', [invalid('patch', shown(), reason)]);
}

/** What no longer fits its kind is the patch's fault. */
export function decodePatched(codec: ObjectCodec, patched: unknown, shown: () => string): DecodedObject {
  try {
    return codec.decode(patched);
  } catch (error) {
    const cause = error instanceof StatusError ? error.cause : undefined;
    if (!(cause instanceof Error)) throw error;
    throw invalidError({ group: '', kind: '' }, '', [invalid('patch', shown(), cause.message)]);
  }
}

/** Fields that a patch has put where the kind has no place for them. */
export function checkPatched(
  request: ResourceRequest,
  shown: () => string,
  unknown: readonly string[],
  validation: FieldValidation,
): void {
  if (unknown.length === 0 || validation === 'Ignore') return;
  if (validation === 'Warn') {
    for (const field of unknown) request.warn(field);
    return;
  }
  throw invalidError({ group: '', kind: '' }, '', [
    invalid('patch', shown(), `strict decoding error: ${unknown.join(', ')}`),
  ]);
}
