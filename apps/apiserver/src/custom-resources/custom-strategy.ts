import type { CustomResourceDefinitionVersion, KubeObject } from '@tinkernetes/api';
import { isDns1123Subdomain, validateObjectMeta, validateObjectMetaUpdate } from '@tinkernetes/apimachinery';
import type { FieldError, Strategy } from '../contracts';
import { celErrors } from './cel-rules';
import { valueAt, type Schema } from './structural-schema';
import { validateValue } from './validate-value';

export interface CustomStrategyOptions {
  version: CustomResourceDefinitionVersion;
  schema: Schema;
  namespaced: boolean;
}

/** Strategy of a custom resource, from its definition. */
export function customStrategy({ version, schema, namespaced }: CustomStrategyOptions): Strategy {
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath);
  const metaRules = { isNamespaced: namespaced, nameCheck: isDns1123Subdomain };
  const bodyErrors = (object: KubeObject, old: KubeObject | undefined): FieldError[] => {
    const {
      metadata: _m,
      apiVersion: _a,
      kind: _k,
      ...body
    } = object as KubeObject & Record<string, unknown>;
    const errors = validateValue(
      body,
      { ...schema, required: schema.required?.filter((r) => r in body || r !== 'metadata') },
      '',
    );
    return errors.length ? errors : celErrors(object, old, schema);
  };
  return {
    allowUnconditionalUpdate: false,
    hasGeneration: true,
    validate: (object) => [
      ...validateObjectMeta(object.metadata, metaRules),
      ...bodyErrors(object, undefined),
    ],
    validateUpdate: (object, old) => [
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...bodyErrors(object, old),
    ],
    validateStatusUpdate: (object, old) => [
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...bodyErrors(object, old),
    ],
    selectableFieldNames: fields.map((path) => path.slice(1)),
    selectableFields: (object) =>
      Object.fromEntries(fields.map((path) => [path.slice(1), fieldText(valueAt(object, path))])),
  };
}

const fieldText = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
