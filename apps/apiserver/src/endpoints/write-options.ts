import {
  forbidden,
  invalidError,
  maxFieldManager,
  notSupported,
  required,
  validateFieldManager,
} from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import type { ResourceRequest } from './context';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteQuery {
  dryRun: boolean;
  fieldManager: string;
  /** As given; empty where it was left out. */
  explicitFieldManager: string;
  fieldValidation: FieldValidation;
  force: boolean | undefined;
}

const validations = ['', 'Ignore', 'Strict', 'Warn'];

/** Query parameters of a write. `kind` is the options kind of the verb: CreateOptions, UpdateOptions, PatchOptions. */
export function writeQuery(request: ResourceRequest, kind: string): WriteQuery {
  const { query } = request;
  const dryRun = query.getAll('dryRun');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors: FieldError[] = [
    ...validateFieldManager(fieldManager, 'fieldManager'),
    ...dryRunErrors(dryRun),
  ];
  if (!validations.includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, validations));
  }
  if (errors.length) throw invalidError({ group: 'meta.k8s.io', kind }, '', errors);
  const force = query.get('force');
  return {
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager || defaultFieldManager(request.raw.headers['user-agent']),
    explicitFieldManager: fieldManager,
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    force: force === null ? undefined : force !== 'false' && force !== '0',
  };
}

export function dryRunErrors(values: readonly string[]): FieldError[] {
  const wrong = values.filter((v) => v !== 'All');
  if (wrong.length === 0) return [];
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  return [{ reason: 'FieldValueNotSupported', field: 'dryRun', message }];
}

/** `kubectl/v1.35.0 (linux/amd64) …` → `kubectl`; a client that doesn't say what it is: `unknown`, as upstream. */
export function defaultFieldManager(userAgent: string | undefined): string {
  return userAgent?.split('/')[0]?.slice(0, maxFieldManager) || 'unknown';
}

/** As `writeQuery`, with the rules that only patches have. */
export function patchQuery(request: ResourceRequest, { apply }: { apply: boolean }): WriteQuery {
  const query = writeQuery(request, 'PatchOptions');
  const errors: FieldError[] = [];
  if (apply && query.explicitFieldManager === '') {
    errors.push(required('fieldManager', 'is required for apply patch'));
  }
  if (!apply && query.force !== undefined) {
    errors.push(forbidden('force', 'may not be specified for non-apply patch'));
  }
  if (errors.length) throw invalidError({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', errors);
  return query;
}
