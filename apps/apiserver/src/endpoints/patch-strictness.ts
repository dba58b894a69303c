import type { ObjectMeta } from '@tinkernetes/api';
import { invalid, invalidError, isObject } from '@tinkernetes/apimachinery';
import { orderedMetadata } from '../registry/generic/stored-codec';
import type { ResourceRequest } from './context';
import type { FieldValidation } from './write-options';

/**
 * A patched object as upstream's messages show it: what a merge has touched was a map, which Go writes with sorted
 * keys; the rest are the bytes from before.
 */
export function showPatched(patched: unknown, change: unknown, custom: boolean): string {
  return JSON.stringify(
    custom ? sorted(patched, undefined) : sorted(patched, isObject(change) ? change : {}),
  );
}

/** Sorted as far as `touched` goes; all the way down where it is undefined. */
function sorted(value: unknown, touched: Readonly<Record<string, unknown>> | undefined): unknown {
  if (Array.isArray(value))
    return touched ? (value as unknown[]) : value.map((item) => sorted(item, undefined));
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
  const reason =
    apiVersion === codec.apiVersion
      ? `converting (${String(kind)}) to (${codec.kind}): unknown conversion`
      : `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`;
  throw invalidError({ group: '', kind: '' }, '', [invalid('patch', shown(), reason)]);
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
