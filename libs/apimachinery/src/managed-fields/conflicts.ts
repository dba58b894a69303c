import { StatusError } from '../status-error';
import { goQuote } from '../validation/field-error';
import type { FieldSet } from './field-set';
import type { Manager } from './managers';

/** Fields that an apply would change and somebody else owns. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

function describe({ manager, subresource, operation, apiVersion }: Manager): string {
  const where = subresource
    ? `${goQuote(manager)} with subresource ${goQuote(subresource)}`
    : goQuote(manager);
  return operation === 'Update' ? `${where} using ${apiVersion}` : where;
}

/** Source: apimachinery/pkg/util/managedfields/internal/conflict.go. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const sorted = [...conflicts].sort((a, b) => (describe(a.manager) < describe(b.manager) ? -1 : 1));
  const causes = sorted.flatMap(({ manager, fields }) =>
    fields.paths().map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${describe(manager)}`,
      field,
    })),
  );
  const [first] = causes;
  const message =
    causes.length === 1 && first
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${causes.length} conflicts: ${sorted.map(listConflicts).join('\n')}`;
  return new StatusError('Conflict', message, { details: { causes } });
}

const listConflicts = ({ manager, fields }: Conflict): string =>
  [`conflicts with ${describe(manager)}:`, ...fields.paths().map((path) => `- ${path}`)].join('\n');
