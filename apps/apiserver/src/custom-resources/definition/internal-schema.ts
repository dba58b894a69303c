import type { ValidationRule } from '@tinkernetes/api';
import { isObject } from '@tinkernetes/apimachinery';
import type { Schema } from '../structural-schema';

/** A rule as Go prints the internal one. */
export const internalRule = (rule: ValidationRule): object => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});

/** A schema as Go prints the internal one: each field, whether it is set or not. Source: apiextensions/types_jsonschema.go. */
export const internalSchema = (schema: Schema): object => ({
  ID: schema.id ?? '',
  Schema: schema.$schema ?? '',
  Ref: schema.$ref ?? null,
  Description: schema.description ?? '',
  Type: schema.type ?? '',
  Nullable: schema.nullable ?? false,
  Format: schema.format ?? '',
  Title: schema.title ?? '',
  Default: schema.default ?? null,
  Maximum: schema.maximum ?? null,
  ExclusiveMaximum: schema.exclusiveMaximum ?? false,
  Minimum: schema.minimum ?? null,
  ExclusiveMinimum: schema.exclusiveMinimum ?? false,
  MaxLength: schema.maxLength ?? null,
  MinLength: schema.minLength ?? null,
  Pattern: schema.pattern ?? '',
  MaxItems: schema.maxItems ?? null,
  MinItems: schema.minItems ?? null,
  UniqueItems: schema.uniqueItems ?? false,
  MultipleOf: schema.multipleOf ?? null,
  Enum: schema.enum ?? null,
  MaxProperties: schema.maxProperties ?? null,
  MinProperties: schema.minProperties ?? null,
  Required: schema.required ?? null,
  Items: internalItems(schema.items),
  AllOf: schema.allOf?.map(internalSchema) ?? null,
  OneOf: schema.oneOf?.map(internalSchema) ?? null,
  AnyOf: schema.anyOf?.map(internalSchema) ?? null,
  Not: schema.not ? internalSchema(schema.not) : null,
  Properties: schemasOf(schema.properties),
  AdditionalProperties: orAllowed(schema.additionalProperties),
  PatternProperties: schemasOf(schema.patternProperties),
  Dependencies: schema.dependencies ?? null,
  AdditionalItems: orAllowed(schema.additionalItems),
  Definitions: schemasOf(schema.definitions),
  ExternalDocs: schema.externalDocs
    ? { Description: schema.externalDocs.description ?? '', URL: schema.externalDocs.url ?? '' }
    : null,
  Example: schema.example ?? null,
  XPreserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] ?? null,
  XEmbeddedResource: schema['x-kubernetes-embedded-resource'] ?? false,
  XIntOrString: schema['x-kubernetes-int-or-string'] ?? false,
  XListMapKeys: schema['x-kubernetes-list-map-keys'] ?? null,
  XListType: schema['x-kubernetes-list-type'] ?? null,
  XMapType: schema['x-kubernetes-map-type'] ?? null,
  XValidations: schema['x-kubernetes-validations']?.map(internalRule) ?? null,
});

function schemasOf(schemas: Readonly<Record<string, Schema>> | undefined): object | null {
  if (!schemas) return null;
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, schema]) => [name, internalSchema(schema)]));
}

export function internalItems(items: unknown): object | null {
  if (items === undefined) return null;
  if (Array.isArray(items))
    return { Schema: null, JSONSchemas: items.map((item) => internalSchema(item as Schema)) };
  return { Schema: isObject(items) ? internalSchema(items) : null, JSONSchemas: null };
}

function orAllowed(value: unknown): object | null {
  if (value === undefined) return null;
  return isObject(value)
    ? { Allows: true, Schema: internalSchema(value) }
    : { Allows: value === true, Schema: null };
}
