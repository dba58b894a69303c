import type { CustomResourceDefinition } from '@tinkernetes/api';
import { child, forbidden, invalid, required } from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import type { Schema } from '../structural-schema';
import { defaultErrors } from './default-rules';
import { RuleCosts } from './expression-rules';
import { internalSchema } from './internal-schema';
import { partsOf } from './internal-spec';
import { openApiErrors } from './openapi-rules';
import { structuralErrors } from './structural-rules';
import { unreadable } from './unsupported-fields';

/** What is wrong with a definition's schemas. Source: apiextensions/validation.validateCustomResourceDefinitionValidation. */
export function schemaErrors(definition: CustomResourceDefinition): FieldError[] {
  const { versions } = definition.spec;
  const isShared = partsOf(definition, 'schema').some(({ path }) => path === 'spec.validation');
  const missing = versions.flatMap(({ schema }, i) =>
    schema?.openAPIV3Schema ? [] : [required(`spec.versions[${i}].schema.openAPIV3Schema`)],
  );
  const hasAnyStatus = versions.some(({ subresources }) => subresources?.status);
  const errors = partsOf(definition, 'schema').flatMap(({ path, value, version }) => {
    const schema = value.openAPIV3Schema;
    if (!schema) return [];
    const hasStatus = isShared ? hasAnyStatus : version.subresources?.status !== undefined;
    return oneSchemaErrors(schema, child(path, 'openAPIV3Schema'), hasStatus);
  });
  return [...missing, ...errors];
}

function oneSchemaErrors(schema: Schema, path: string, hasStatus: boolean): FieldError[] {
  const errors: FieldError[] = hasStatus ? statusRootErrors(schema, path) : [];
  if (schema.nullable) errors.push(forbidden(child(path, 'nullable'), 'nullable cannot be true at the root'));
  const unreadableReason = unreadable(schema);
  const structural = unreadableReason === undefined ? structuralOrDefaultErrors(schema, path) : undefined;
  const costs = new RuleCosts();
  const expressions = structural?.length === 0 ? { cardinality: 1, costs } : undefined;
  errors.push(...(structural ?? []), ...openApiErrors(schema, { path, isRoot: true, expressions }));
  if (errors.length === 0 && unreadableReason !== undefined) {
    return [invalid(path, '', unreadableReason)];
  }
  return [...errors, ...costs.errors(path)];
}

function structuralOrDefaultErrors(schema: Schema, path: string): FieldError[] {
  const errors = structuralErrors(schema, path);
  return errors.length > 0 ? errors : defaultErrors(schema, path);
}

/** Fields as Go names them, of which a schema may have some at its root beside a status. */
const allowedAtRoot =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'.split(
    ' ',
  );

const goNames: Readonly<Record<string, string>> = {
  $schema: 'Schema',
  $ref: 'Ref',
  id: 'ID',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
};
const goName = (field: string): string =>
  goNames[field] ??
  field.replace(/^x-kubernetes-/, 'X-').replace(/(?:^|-)(\w)/g, (_, c: string) => c.toUpperCase());

/** The schema of the status is taken out of the whole, so that nothing may be said around it. */
function statusRootErrors(schema: Schema, path: string): FieldError[] {
  if (schema.type && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(child(path, 'type'), schema.type, detail)];
  }
  const given = Object.entries(schema).filter(([, value]) => value !== undefined && value !== false);
  if (given.every(([name]) => allowedAtRoot.includes(goName(name)))) return [];
  const detail = `only [${allowedAtRoot.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, internalSchema(schema), detail)];
}
