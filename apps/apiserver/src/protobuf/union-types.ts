/** Go types of CRD schemas that are one thing or another: which field of the message holds which JSON form. */
export interface UnionType {
  /** The message's fields for a JSON value. */
  toFields(value: unknown): Record<string, unknown>;
  /** undefined: nothing is set, so the field is left out. */
  toJson(fields: Record<string, unknown>): unknown;
}

const extensions = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';

export const unionTypes: ReadonlyMap<string, UnionType> = new Map<string, UnionType>([
  [
    `${extensions}.JSONSchemaPropsOrArray`,
    {
      toFields: (value) => (Array.isArray(value) ? { jSONSchemas: value } : { schema: value }),
      toJson: ({ schema, jSONSchemas }) => jSONSchemas ?? schema,
    },
  ],
  [
    `${extensions}.JSONSchemaPropsOrBool`,
    {
      toFields: (value) => (typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value }),
      toJson: ({ allows, schema }) => schema ?? allows ?? false,
    },
  ],
  [
    `${extensions}.JSONSchemaPropsOrStringArray`,
    {
      toFields: (value) => (Array.isArray(value) ? { property: value } : { schema: value }),
      toJson: ({ schema, property }) => property ?? schema,
    },
  ],
]);
