import { invalid, invalidError } from '@tinkernetes/apimachinery';
import type { ResourceRequest } from './context';
import type { FieldValidation } from './write-options';

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
