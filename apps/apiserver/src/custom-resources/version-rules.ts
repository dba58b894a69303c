import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '@tinkernetes/api';
import { duplicate, invalid, isDns1035Label, required } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { propertyOf, type Schema } from './structural-schema';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const simplePath = /^(\.[a-zA-Z_][\w-]*|\.)+$/;

/** What is wrong with a definition's versions and what they say beyond their schemas. */
export function versionErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const storage = spec.versions.filter((v) => v.storage);
  const single = spec.versions.length === 1;
  const [first] = spec.versions;
  if (single && first?.name) errors.push(...labelErrors('spec.version', first.name));
  const seen = new Set<string>();
  spec.versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    if (seen.has(version.name)) errors.push(duplicate(`${path}.name`, version.name));
    seen.add(version.name);
    errors.push(...labelErrors(`${path}.name`, version.name));
    // Where all versions have the same, upstream's internal form keeps it once, at the top.
    errors.push(
      ...columnErrors(version, single ? 'spec' : path),
      ...subresourceErrors(version, single ? 'spec' : path),
    );
    errors.push(...selectableErrors(version, single ? 'spec' : path));
  });
  if (storage.length !== 1) {
    errors.push(
      invalid(
        'spec.versions',
        spec.versions.map(internalVersion),
        'must have exactly one version marked as storage version',
      ),
    );
  }
  return [...errors, ...storedErrors(storage, status?.storedVersions)];
}

function storedErrors(
  storage: readonly CustomResourceDefinitionVersion[],
  stored: readonly string[] | undefined,
): FieldError[] {
  const field = 'status.storedVersions';
  if (!stored?.length) return [invalid(field, null, 'must have at least one stored version')];
  const last = storage.at(-1);
  if (!last || stored.includes(last.name)) return [];
  return [invalid(field, stored, `must have the storage version ${last.name}`)];
}

const labelErrors = (field: string, name: string): FieldError[] =>
  isDns1035Label(name).map((message) => invalid(field, name, message));

/** A version as Go prints the internal one, without the schema that is kept elsewhere. */
const internalVersion = (version: CustomResourceDefinitionVersion): object => ({
  Name: version.name,
  Served: version.served,
  Storage: version.storage,
  Deprecated: version.deprecated ?? false,
  DeprecationWarning: version.deprecationWarning ?? null,
  Schema: null,
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null,
});

function columnErrors(
  { additionalPrinterColumns = [] }: CustomResourceDefinitionVersion,
  path: string,
): FieldError[] {
  const names = new Set<string>();
  return additionalPrinterColumns.flatMap((column, i) => {
    const at = `${path}.additionalPrinterColumns[${i}]`;
    const errors = oneColumn(column, at);
    if (names.has(column.name)) errors.push(duplicate(`${at}.name`, column.name));
    names.add(column.name);
    return errors;
  });
}

function oneColumn({ name, type, jsonPath }: CustomResourceColumnDefinition, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!jsonPath) errors.push(required(`${path}.JSONPath`));
  else if (!jsonPath.startsWith('.')) {
    errors.push(invalid(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .'));
  }
  if (!name) errors.push(required(`${path}.name`));
  if (!type) errors.push(required(`${path}.type`, `must be one of ${columnTypes.join(',')}`));
  else if (!columnTypes.includes(type)) {
    errors.push(invalid(`${path}.type`, type, `must be one of ${columnTypes.join(',')}`));
  }
  return errors;
}

function subresourceErrors({ subresources }: CustomResourceDefinitionVersion, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const at = `${path}.subresources.scale`;
  const errors: FieldError[] = [];
  const check = (field: string, value: string | undefined, roots: readonly string[]) => {
    if (value === undefined || value === '') {
      if (field !== 'labelSelectorPath') errors.push(required(`${at}.${field}`));
      return;
    }
    if (!simplePath.test(value)) {
      errors.push(invalid(`${at}.${field}`, value, 'must be a simple json path starting with .'));
    } else if (!roots.some((root) => value.startsWith(root))) {
      errors.push(
        invalid(
          `${at}.${field}`,
          value,
          `should be a json path under ${roots.map((r) => r.slice(0, -1)).join(' or ')}`,
        ),
      );
    }
  };
  check('specReplicasPath', scale.specReplicasPath, ['.spec.']);
  check('statusReplicasPath', scale.statusReplicasPath, ['.status.']);
  check('labelSelectorPath', scale.labelSelectorPath, ['.spec.', '.status.']);
  return errors;
}

function selectableErrors(
  { selectableFields = [], schema }: CustomResourceDefinitionVersion,
  path: string,
): FieldError[] {
  const root = schema?.openAPIV3Schema;
  if (selectableFields.length > 0 && !root) {
    const detail = 'may only be set when validations.schema is included';
    return [invalid(`${path}.selectableFields`, '', detail)];
  }
  return selectableFields.flatMap(({ jsonPath }, i) => {
    const at = `${path}.selectableFields[${i}].jsonPath`;
    if (!jsonPath) return [required(at)];
    const target = jsonPath
      .split('.')
      .slice(1)
      .reduce<Schema | undefined>((s, key) => s && propertyOf(s, key), root);
    if (!target) return [invalid(at, jsonPath, 'is an invalid path: does not refer to a valid field')];
    return ['string', 'boolean', 'integer'].includes(target.type ?? '')
      ? []
      : [
          invalid(
            at,
            jsonPath,
            'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
          ),
        ];
  });
}
