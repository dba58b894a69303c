import type { ManagedFieldsEntry } from '@tinkernetes/api';
import { child, index, invalid, tooLong } from './field-error';
import type { FieldError } from './field-error';

/** Bytes. Source: apimachinery/pkg/apis/meta/v1/validation. */
export const maxFieldManager = 128;
const maxSubresource = 256;

/** As Go's unicode.IsPrint. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

export function validateFieldManager(name: string, path: string): FieldError[] {
  const errors = Buffer.byteLength(name) > maxFieldManager ? [tooLong(path, maxFieldManager)] : [];
  // Every write looks at all managers of its object, whose names are nearly always right.
  if (printable.test(name)) return errors;
  let position = 0;
  for (const char of name) {
    if (!printable.test(char)) {
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid(path, name, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(char);
  }
  return errors;
}

/** What is wrong with who is said to own fields. */
export function validateManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  path: string,
): FieldError[] {
  return (entries ?? []).flatMap(({ manager = '', subresource = '' }, i) => [
    ...validateFieldManager(manager, child(index(path, i), 'manager')),
    ...(subresource.length > maxSubresource
      ? [tooLong(child(index(path, i), 'subresource'), maxSubresource)]
      : []),
  ]);
}
