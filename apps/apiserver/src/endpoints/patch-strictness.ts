import { invalid, invalidError } from '@tinkernetes/apimachinery';
import type { ResourceRequest } from './context';
import type { FieldValidation } from './write-options';

/** A patch may not make another kind of the object. */
export function checkPatchedType(request: ResourceRequest, patched: unknown): void {
  const { codec } = request.resource;
  const { kind, apiVersion } = patched as { kind?: unknown; apiVersion?: unknown };
  if (kind === codec.kind && apiVersion === codec.apiVersion) return;
  const reason =
    apiVersion === codec.apiVersion
      ? `converting (${String(kind)}) to (${codec.kind}): unknown conversion`
      : `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`;
  throw invalidError({ group: '', kind: '' }, '', [invalid('patch', JSON.stringify(patched), reason)]);
}

/** Fields that a patch has put where the kind has no place for them. */
export function checkPatched(
  request: ResourceRequest,
  patched: unknown,
  unknown: readonly string[],
  validation: FieldValidation,
): void {
  if (unknown.length === 0 || validation === 'Ignore') return;
  if (validation === 'Warn') {
    for (const field of unknown) request.warn(field);
    return;
  }
  throw invalidError({ group: '', kind: '' }, '', [
    invalid('patch', JSON.stringify(patched), `strict decoding error: ${unknown.join(', ')}`),
  ]);
}
