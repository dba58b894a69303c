import { loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import type { ResourceTable } from '../registry/generic/resource-table';
import { versionInfo } from '../server/version';
import { withDescriptions, type Descriptions } from './descriptions';
import { parameterType, patchTypes, pathsOf, type Operation } from './paths';
import { ownSchemas } from './v3';

/** The OpenAPI v2 document of everything that is served. */
export function openApiV2(table: ResourceTable, descriptions: Descriptions): object {
  const resources = [...table.all()];
  const paths: Record<string, object> = {};
  for (const resource of resources) {
    for (const [path, methods] of Object.entries(pathsOf(resource))) {
      paths[path] = {
        ...Object.fromEntries(
          Object.entries(methods).map(([m, operation]) => [m, writeOperation(operation, resource.custom)]),
        ),
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
          name,
          in: 'path',
          required: true,
          type: 'string',
          uniqueItems: true,
        })),
      };
    }
  }
  const definitions: Record<string, unknown> = {};
  const schemas = withDescriptions({ ...loadSchemas(), ...ownSchemas(resources) }, descriptions);
  for (const [name, schema] of Object.entries(schemas)) {
    definitions[name] = downgrade(schema);
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: versionInfo.gitVersion },
    paths,
    definitions,
    securityDefinitions: {
      BearerToken: {
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
        description: 'Bearer Token authentication',
      },
    },
    security: [{ BearerToken: [] }],
  };
}

/** A v3 schema in v2's words: no oneOf, no nullable, references to definitions. */
function downgrade(schema: OpenAPISchema): Record<string, unknown> {
  const { oneOf, allOf, $ref, properties, items, additionalProperties, ...rest } = schema;
  const { nullable: _n, anyOf: _a, not: _not, ...kept } = rest as Record<string, unknown>;
  const reference = $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined);
  if (reference) return { ...kept, $ref: reference.replace('#/', '#/definitions/') };
  return {
    ...kept,
    ...(oneOf && !schema.type ? { type: 'string' } : undefined),
    ...(properties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([name, p]) => [name, downgrade(p)])),
        }
      : undefined),
    ...(items ? { items: downgrade(items) } : undefined),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: downgrade(additionalProperties) }
      : undefined),
  };
}

function writeOperation(
  { operationId, tag, action, kind, body, answer, parameters }: Operation,
  custom: boolean,
): object {
  const reference = (name: string) => ({ $ref: `#/definitions/${name}` });
  return {
    tags: [tag],
    operationId,
    consumes: action === 'patch' ? patchTypes(custom) : ['*/*'],
    produces: ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'],
    schemes: ['https'],
    parameters: [
      ...parameters.map((name) => ({ name, in: 'query', type: parameterType(name), uniqueItems: true })),
      ...(body ? [{ name: 'body', in: 'body', required: action !== 'delete', schema: reference(body) }] : []),
    ],
    responses: {
      [action === 'post' ? '201' : '200']: {
        description: 'OK',
        ...(answer ? { schema: reference(answer) } : undefined),
      },
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kind,
  };
}
