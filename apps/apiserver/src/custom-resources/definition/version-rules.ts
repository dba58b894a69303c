import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceSubresources,
} from '@tinkernetes/api';
import {
  child,
  duplicate,
  index,
  invalid,
  isDns1035Label,
  required,
  tooMany,
} from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import type { Schema } from '../structural-schema';
import { FieldPathError, followFieldPath } from './field-path';
import { internalVersions, partsOf } from './internal-spec';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const maxSelectableFields = 8;
const maxWarningLength = 256;

/** What is wrong with a definition's versions and what they say beyond their schemas. */
export function versionErrors(definition: CustomResourceDefinition): FieldError[] {
  const { versions } = definition.spec;
  const errors: FieldError[] = [];
  versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    errors.push(...labelErrors(`${path}.name`, version.name ?? ''));
    const { deprecated = false, deprecationWarning } = version;
    errors.push(...warningErrors(deprecationWarning, deprecated, `${path}.deprecationWarning`));
  });
  for (const { path, value } of partsOf(definition, 'additionalPrinterColumns')) {
    value.forEach((column, i) => errors.push(...columnErrors(column, index(path, i))));
  }
  for (const { path, value } of partsOf(definition, 'subresources')) {
    errors.push(...subresourceErrors(value, path));
  }
  for (const { path, value, version } of partsOf(definition, 'selectableFields')) {
    const paths = value.map(({ jsonPath = '' }) => jsonPath);
    errors.push(...selectableErrors(paths, version.schema?.openAPIV3Schema, path));
  }
  const told = (detail: string) =>
    errors.push(invalid('spec.versions', internalVersions(definition), detail));
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    told('must contain unique version names');
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    told('must have exactly one version marked as storage version');
  }
  const [first] = versions;
  if (first?.name) errors.push(...labelErrors('spec.version', first.name));
  return [...errors, ...storedErrors(definition)];
}

function storedErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const field = 'status.storedVersions';
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) return [invalid(field, null, 'must have at least one stored version')];
  // A version that is there twice is found once.
  const left = new Set(stored);
  const missing = spec.versions.flatMap(({ storage, name }) =>
    left.delete(name) || !storage ? [] : [invalid(field, stored, `must have the storage version ${name}`)],
  );
  const gone = stored.flatMap((name, i) => {
    if (spec.versions.some((version) => version.name === name)) return [];
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return [invalid(index(field, i), name, detail)];
  });
  return [...missing, ...gone];
}

function labelErrors(field: string, name: string): FieldError[] {
  const messages = isDns1035Label(name);
  return messages.length > 0 ? [invalid(field, name, messages.join(','))] : [];
}

function warningErrors(warning: string | undefined, deprecated: boolean, path: string): FieldError[] {
  if (warning === undefined) return [];
  if (!deprecated) return [invalid(path, warning, 'can only be set for deprecated versions')];
  const details: string[] = [];
  if (Buffer.byteLength(warning) > maxWarningLength) details.push('must be <= 256 characters long');
  if (warning === '') details.push('must not be an empty string');
  const at = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (at >= 0) {
    const offset = Buffer.byteLength(warning.slice(0, at));
    details.push(
      `must only contain printable UTF-8 characters; non-printable character found at index ${offset}`,
    );
  }
  return details.map((detail) => invalid(path, warning, detail));
}

function columnErrors(
  { name, type, format, jsonPath }: CustomResourceColumnDefinition,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const oneOf = (values: readonly string[]) => `must be one of ${values.join(',')}`;
  if (!name) errors.push(required(child(path, 'name')));
  if (!type) errors.push(required(child(path, 'type'), oneOf(columnTypes)));
  else if (!columnTypes.includes(type)) errors.push(invalid(child(path, 'type'), type, oneOf(columnTypes)));
  if (format && !columnFormats.includes(format)) {
    errors.push(invalid(child(path, 'format'), format, oneOf(columnFormats)));
  }
  const pathField = child(path, 'JSONPath');
  if (!jsonPath) errors.push(required(pathField));
  else errors.push(...simplePathErrors(jsonPath, pathField));
  return errors;
}

const simplePathErrors = (path: string, field: string): FieldError[] =>
  path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];

function subresourceErrors({ scale }: CustomResourceSubresources, path: string): FieldError[] {
  if (!scale) return [];
  const at = child(path, 'scale');
  const under = (name: string, value: string, roots: readonly string[]): FieldError[] => {
    const field = child(at, name);
    const errors = simplePathErrors(value, field);
    if (errors.length > 0 || roots.some((root) => value.startsWith(`${root}.`))) return errors;
    const where = roots.length > 1 ? `either ${roots.join(' or ')}` : String(roots[0]);
    return [invalid(field, value, `should be a json path under ${where}`)];
  };
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return [
    ...(specReplicasPath
      ? under('specReplicasPath', specReplicasPath, ['.spec'])
      : [required(child(at, 'specReplicasPath'))]),
    ...(statusReplicasPath
      ? under('statusReplicasPath', statusReplicasPath, ['.status'])
      : [required(child(at, 'statusReplicasPath'))]),
    ...(labelSelectorPath ? under('labelSelectorPath', labelSelectorPath, ['.spec', '.status']) : []),
  ];
}

const selectableTypes = ['string', 'boolean', 'integer'];

function selectableErrors(paths: readonly string[], root: Schema | undefined, path: string): FieldError[] {
  if (!root) return [invalid(path, '', 'may only be set when validations.schema is included')];
  const errors: FieldError[] = [];
  const known = new Set<string>();
  paths.forEach((jsonPath, i) => {
    const at = child(index(path, i), 'jsonPath');
    if (jsonPath === '') {
      errors.push(required(at));
      return;
    }
    try {
      const found = followFieldPath(jsonPath, root, { allowsKeys: false });
      if (/^metadata(\.|$)/.test(found.path)) {
        errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
      }
      if (!selectableTypes.includes(found.schema?.type ?? '')) {
        const detail =
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
        errors.push(invalid(at, jsonPath, detail));
      }
      if (known.has(found.path)) errors.push(duplicate(at, jsonPath));
      known.add(found.path);
    } catch (error) {
      if (!(error instanceof FieldPathError)) throw error;
      errors.push(invalid(at, jsonPath, `is an invalid path: ${error.message}`));
    }
  });
  if (known.size > maxSelectableFields) errors.push(tooMany(path, known.size, maxSelectableFields));
  return errors;
}
