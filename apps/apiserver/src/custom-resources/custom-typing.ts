import { apiVersionOf, loadSchemas, type OpenAPISchema, type ResourceDescriptor } from '@tinkernetes/api';
import type { FieldTyping } from '../registry/generic/field-tracking';
import type { Schema } from './structural-schema';

const name = 'custom';
const metadata: OpenAPISchema = { $ref: '#/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };

/** Field ownership of a custom resource, by its definition's schema. */
export function customTyping(descriptor: ResourceDescriptor, schema: Schema): () => FieldTyping {
  let typing: FieldTyping | undefined;
  return () =>
    (typing ??= {
      schemas: { ...loadSchemas(), [name]: withTypeFields(schema) },
      schemaName: name,
      keptByStatus: 'all',
      empty: { apiVersion: apiVersionOf(descriptor), kind: descriptor.kind, metadata: { name: '' } },
    });
}

/** The schema with what every object has. */
export const withTypeFields = (schema: Schema): OpenAPISchema => ({
  ...(schema as OpenAPISchema),
  properties: {
    ...(schema.properties as OpenAPISchema['properties']),
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata,
  },
});
