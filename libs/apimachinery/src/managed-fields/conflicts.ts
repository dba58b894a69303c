import { StatusError } from '../status-error';
import { goQuote } from '../validation/go-quote';
import type { FieldSet } from './field-set';
import type { Manager } from './managers';

/** Fields that an apply would change and somebody else owns. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** `shownVersion`: what an update is said to have been made in, where that is not the object's own version. */
function describe(
  { manager, subresource, operation, apiVersion }: Manager,
  shownVersion: string | undefined,
): string {
  const where = subresource
    ? `${goQuote(manager)} with subresource ${goQuote(subresource)}`
    : goQuote(manager);
  return operation === 'Update' ? `${where} using ${shownVersion ?? apiVersion}` : where;
}

/** Source: apimachinery/pkg/util/managedfields/internal/conflict.go. */
export function conflictError(conflicts: readonly Conflict[], shownVersion?: string): StatusError {
  const described = conflicts
    .map(({ manager, fields }) => ({ who: describe(manager, shownVersion), paths: fields.paths() }))
    .sort((a, b) => (a.who < b.who ? -1 : 1));
  const causes = described.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  const [first] = causes;
  const lists = described.map(({ who, paths }) =>
    [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)].join('\n'),
  );
  const message =
    causes.length === 1 && first
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${causes.length} conflicts: ${lists.join('\n')}`;
  return new StatusError('Conflict', message, { details: { causes } });
}
