import type { OpenAPISchema } from '@tinkernetes/api';
import type { ResourceTable } from '../registry/generic/resource-table';
import type { ServedResource } from '../registry/generic/served-resource';
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
import { versionPaths } from './discovery-paths';
import { pathsOf } from './paths';
import { closureOf, customListSchema, customSchema, schemaNameFor } from './schema-names';

/** The OpenAPI v3 document of one group and version, as JSON. */
export function openApiV3(
  table: ResourceTable,
  { group, version }: { group: string; version: string },
  descriptions: Descriptions,
): string {
  const resources = [...table.all()].filter(
    ({ descriptor }) => descriptor.group === group && descriptor.version === version,
  );
  const path = group ? `/apis/${group}/${version}/` : `/api/${version}/`;
  const paths = Object.assign({}, versionPaths(table).get(path), ...resources.map(pathsOf)) as Paths;
  return documentText(paths, ownSchemas(resources), descriptions);
}

/** An OpenAPI v3 document of paths, as JSON. `own`: schemas that no facts know. */
export function documentText(
  paths: Paths,
  own: Readonly<Record<string, OpenAPISchema>>,
  descriptions: Descriptions,
): string {
  const names = new Set<string>();
  const written = Object.entries(paths).map(([path, methods]) => {
    for (const { body, answer } of Object.values(methods))
      for (const name of [body, answer]) if (name) names.add(name);
    const operations = Object.entries(methods).map(([m, operation]) => [m, writeOperation(operation)]);
    const parameters = pathParameters(path, methods);
    return [
      path,
      { ...Object.fromEntries(operations), ...(parameters.length > 0 && { parameters }) },
    ] as const;
  });
  const schemas = Object.entries(closureOf(names, own)).map(([name, schema]) => {
    const text = own[name] ? schemaText(name, schema, descriptions) : knownText(name, schema, descriptions);
    return `${JSON.stringify(name)}:${text}`;
  });
  const head = JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: `${versionInfo.major}.${versionInfo.minor}` },
    paths: Object.fromEntries(written),
  });
  return `${head.slice(0, -1)},"components":{"schemas":{${schemas.join(',')}}}}`;
}

/** Built-in types are in the documents of many groups. */
const known = new WeakMap<Descriptions, Map<string, string>>();

function knownText(name: string, schema: OpenAPISchema, descriptions: Descriptions): string {
  let texts = known.get(descriptions);
  if (!texts) known.set(descriptions, (texts = new Map()));
  let text = texts.get(name);
  if (text === undefined) texts.set(name, (text = schemaText(name, schema, descriptions)));
  return text;
}

/** A schema as JSON, with references as the document wants them. */
const schemaText = (name: string, schema: OpenAPISchema, descriptions: Descriptions): string =>
  JSON.stringify(withDescriptions({ [name]: schema }, descriptions)[name]).replaceAll(
    '"$ref":"#/',
    '"$ref":"#/components/schemas/',
  );

/** Schemas of custom kinds, which no facts know. */
export function ownSchemas(resources: readonly ServedResource[]): Record<string, OpenAPISchema> {
  const out: Record<string, OpenAPISchema> = {};
  for (const resource of resources) {
    if (!resource.custom) continue;
    out[schemaNameFor(resource)] = customSchema(resource);
    out[`${schemaNameFor(resource)}List`] = customListSchema(resource);
  }
  return out;
}

function writeOperation({ operationId, tag, description, target, ...operation }: Operation): object {
  const { consumes, produces, body, answer, codes, parameters } = operation;
  const content = (types: readonly string[], name: string | undefined) => {
    const schema = name ? { $ref: `#/components/schemas/${name}` } : { type: 'string' };
    return Object.fromEntries(types.map((type) => [type, { schema }]));
  };
  const isRequired = target?.action !== 'delete' && target?.action !== 'deletecollection';
  return {
    tags: [tag],
    description,
    operationId,
    ...(parameters.length > 0 && {
      parameters: parameters.map((name) => ({
        name,
        in: 'query',
        schema: { type: parameterType(name), uniqueItems: true },
      })),
    }),
    ...(body && {
      requestBody: { content: content(consumes, body), ...(isRequired && { required: true }) },
    }),
    responses: {
      ...Object.fromEntries(
        codes.map((code) => [code, { description: answerTexts[code], content: content(produces, answer) }]),
      ),
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
  return shared.map((parameter) => ({ ...parameter, schema: { type: 'string', uniqueItems: true } }));
}
