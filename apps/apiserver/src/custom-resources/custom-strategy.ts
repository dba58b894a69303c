import type { CustomResourceDefinitionVersion, KubeObject } from '@tinkernetes/api';
import { isDns1123Subdomain, validateObjectMeta, validateObjectMetaUpdate } from '@tinkernetes/apimachinery';
import type { FieldError, Strategy } from '../contracts';
import { celErrors, containsRules } from './cel-rules';
import { embeddedObjectErrors } from './embedded-objects';
import { finalizerWarnings } from './finalizer-warnings';
import { scaleErrors } from './scale-rules';
import { propertyOf, valueAt, type Schema } from './structural-schema';
import { duplicateErrors } from './unique-items';
import { validateValue } from './validate-value';

export interface CustomStrategyOptions {
  version: CustomResourceDefinitionVersion;
  schema: Schema;
  namespaced: boolean;
}

interface Written {
  readonly object: KubeObject;
  readonly old?: KubeObject;
  warn(message: string): void;
}

/** Strategy of a custom resource, from its definition. Source: apiextensions-apiserver/pkg/registry/customresource. */
export function customStrategy({ version, schema, namespaced }: CustomStrategyOptions): Strategy {
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath);
  const metaRules = { isNamespaced: namespaced, nameCheck: isDns1123Subdomain, hasFreeFinalizers: true };
  const scale = version.subresources?.scale;
  const structural = { ...schema, 'x-kubernetes-embedded-resource': false };
  /** What is looked at in every write, after `errors`. */
  const others = (errors: FieldError[], { object, old, warn }: Written): FieldError[] => {
    const wasUnique = !old || duplicateErrors(old, schema, '').length === 0;
    const found = [
      ...errors,
      ...embeddedObjectErrors(object, structural, ''),
      ...(wasUnique ? duplicateErrors(object, schema, '') : []),
    ];
    const isBlocked = found.some(({ reason }) => blockingReasons.has(reason));
    return [...found, ...(isBlocked ? unchecked(schema) : celErrors(object, schema, { old, warn }))];
  };
  return {
    allowUnconditionalUpdate: false,
    keptByStatus: 'all',
    hasGeneration: true,
    validate: (object, { warn }) => {
      const errors = [
        ...validateObjectMeta(object.metadata, metaRules),
        ...validateValue(object, schema, ''),
        ...scaleErrors(object, scale),
      ];
      return others(errors, { object, warn });
    },
    validateUpdate: (object, old, { warn }) => {
      const errors = [
        ...validateObjectMetaUpdate(object.metadata, old.metadata),
        ...validateObjectMeta(object.metadata, metaRules),
        ...validateValue(object, schema, '', old),
        ...scaleErrors(object, scale),
      ];
      return others(errors, { object, old, warn });
    },
    validateStatusUpdate: (object, old, { warn }) => {
      const errors = [
        ...validateObjectMetaUpdate(object.metadata, old.metadata),
        ...statusErrors(object, old, schema),
        ...scaleErrors(object, scale, { onlyStatus: true }),
      ];
      return others(errors, { object, old, warn });
    },
    warnings: (object, old) => finalizerWarnings(object.metadata, old?.metadata),
    selectableFieldNames: fields.map((path) => path.slice(1)),
    selectableFields: (object) =>
      Object.fromEntries(fields.map((path) => [path.slice(1), fieldText(valueAt(object, path))])),
  };
}

/** The status alone, as if it were all there is. */
function statusErrors(object: KubeObject, old: KubeObject, schema: Schema): FieldError[] {
  const property = propertyOf(schema, 'status');
  const { status } = object as { status?: unknown };
  if (!property || status === undefined) return [];
  const errors = validateValue(status, property, '', (old as { status?: unknown }).status);
  return errors.map((error) => ({ ...error, field: belowStatus(error.field) }));
}

const belowStatus = (field: string): string =>
  field === '<nil>' || field === '' ? 'status' : `status.${field}`;

/** Mistakes that rules can't be checked beside. */
const blockingReasons: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Says that rules were not looked at, where there are any. */
function unchecked(schema: Schema): FieldError[] {
  if (!containsRules(schema)) return [];
  const message =
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  return [{ reason: 'FieldValueInvalid', field: '<nil>', message }];
}

const fieldText = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
