import { loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import type { ResourceTable } from '../registry/generic/resource-table';
import { versionInfo } from '../server/version';
import { withDescriptions, type Descriptions } from './descriptions';
import {
  answerTexts,
  parameterType,
  prettyParameter,
  takesPretty,
  type Operation,
  type Paths,
} from './operations';
import { serverPaths, versionPaths } from './discovery-paths';
import { pathsOf } from './paths';
import { ownSchemas } from './v3';

/** The OpenAPI v2 document of everything that is served. */
export function openApiV2(table: ResourceTable, descriptions: Descriptions): object {
  const resources = [...table.all()];
  const described = [
    ...serverPaths(table).values(),
    ...versionPaths(table).values(),
    ...resources.map(pathsOf),
  ].flatMap((paths) => Object.entries(paths));
  const paths = Object.fromEntries(
    described.map(([path, methods]) => {
      const operations = Object.entries(methods).map(([m, operation]) => [m, writeOperation(operation)]);
      const parameters = pathParameters(path, methods);
      return [
        path,
        { ...Object.fromEntries(operations), ...(parameters.length > 0 && { parameters }) },
      ] as const;
    }),
  );
  const definitions: Record<string, unknown> = {};
  const schemas = withDescriptions({ ...loadSchemas(), ...ownSchemas(resources) }, descriptions);
  for (const [name, schema] of Object.entries(schemas)) {
    definitions[name] = downgrade(schema);
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: `${versionInfo.major}.${versionInfo.minor}` },
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

function writeOperation({ operationId, tag, description, target, ...operation }: Operation): object {
  const { consumes, produces, body, answer, codes, parameters } = operation;
  const reference = (name: string) => ({ $ref: `#/definitions/${name}` });
  const schema = answer ? reference(answer) : { type: 'string' };
  const isRequired = target?.action !== 'delete' && target?.action !== 'deletecollection';
  return {
    description,
    ...(consumes.length > 0 && { consumes }),
    produces,
    schemes: ['https'],
    tags: [tag],
    operationId,
    parameters: [
      ...(body
        ? [{ name: 'body', in: 'body', ...(isRequired && { required: true }), schema: reference(body) }]
        : []),
      ...parameters.map((name) => ({ name, in: 'query', type: parameterType(name), uniqueItems: true })),
    ],
    responses: {
      ...Object.fromEntries(codes.map((code) => [code, { description: answerTexts[code], schema }])),
      401: { description: 'Unauthorized' },
    },
    ...(target && {
      'x-kubernetes-action': target.action,
      'x-kubernetes-group-version-kind': target.kind,
    }),
  };
}

function pathParameters(path: string, methods: Paths[string]): object[] {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true }));
  const shared = takesPretty(methods) ? [...named, { name: prettyParameter, in: 'query' }] : named;
  return shared.map((parameter) => ({ ...parameter, type: 'string', uniqueItems: true }));
}
