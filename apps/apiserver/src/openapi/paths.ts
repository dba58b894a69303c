import { apiPathOf } from '@tinkernetes/api';
import { schemaNameOf } from '../codec/object-codec';
import type { ServedResource, ServedSubresource } from '../registry/generic/served-resource';
import {
  connectOperations,
  deleteParameters,
  listParameters,
  operationMaker,
  writeParameters,
  type Maker,
  type Operation,
  type Paths,
} from './operations';
import { schemaNameFor } from './schema-names';

const statusSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
const patchSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch';
const deleteOptions = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/** All paths of a resource, with what can be done there. */
export function pathsOf(resource: ServedResource): Paths {
  const { descriptor, verbs } = resource;
  const base = apiPathOf(descriptor);
  const scope = descriptor.namespaced ? '/namespaces/{namespace}' : '';
  const collection = `${base}${scope}/${descriptor.resource}`;
  const paths: Paths = {};
  const add = (path: string, operations: Readonly<Record<string, Operation>>) => {
    if (Object.keys(operations).length > 0) paths[path] = operations;
  };
  const make = operationMaker(resource);
  const listing = { answer: `${schemaNameFor(resource)}List`, parameters: listParameters };
  add(collection, collectionOperations(resource, make));
  if (descriptor.namespaced && verbs.has('list')) {
    const all = make('list', listing);
    const operationId = all.operationId.replace('Namespaced', '') + 'ForAllNamespaces';
    add(`${base}/${descriptor.resource}`, { get: { ...all, operationId } });
  }
  add(`${collection}/{name}`, itemOperations(resource, make));
  for (const sub of resource.subresources.values()) {
    const path = `${collection}/{name}/${sub.name}`;
    add(path, connectOperations(resource, sub) ?? subresourceOperations(resource, sub));
    if (sub.name === 'proxy') add(`${path}/{path}`, connectOperations(resource, sub, 'WithPath') ?? {});
  }
  return paths;
}

function collectionOperations(resource: ServedResource, make: Maker): Record<string, Operation> {
  const { custom, verbs } = resource;
  const body = schemaNameFor(resource);
  const out: Record<string, Operation> = {};
  if (verbs.has('list')) out.get = make('list', { answer: `${body}List`, parameters: listParameters });
  if (verbs.has('create')) out.post = make('create', { body, answer: body, parameters: writeParameters });
  if (verbs.has('deletecollection')) {
    // Upstream lists custom resources' own way of it as if they took no options.
    const parameters = custom
      ? listParameters
      : [...new Set([...listParameters, ...deleteParameters])]
          .filter((name) => name !== 'allowWatchBookmarks' && name !== 'watch')
          .sort();
    out.delete = make('deletecollection', {
      ...(custom ? undefined : { body: deleteOptions }),
      answer: statusSchema,
      parameters,
    });
  }
  return out;
}

function itemOperations(resource: ServedResource, make: Maker): Record<string, Operation> {
  const { custom, verbs } = resource;
  const body = schemaNameFor(resource);
  const out: Record<string, Operation> = {};
  if (verbs.has('get'))
    out.get = make('get', { answer: body, parameters: custom ? ['resourceVersion'] : [] });
  if (verbs.has('update')) out.put = make('update', { body, answer: body, parameters: writeParameters });
  if (verbs.has('patch'))
    out.patch = make('patch', { body: patchSchema, answer: body, parameters: [...writeParameters, 'force'] });
  if (verbs.has('delete')) {
    const answer = resource.strategy.returnDeletedObject ? body : statusSchema;
    out.delete = make('delete', { body: deleteOptions, answer, parameters: deleteParameters });
  }
  return out;
}

const logParameters = [
  'container',
  'follow',
  'insecureSkipTLSVerifyBackend',
  'limitBytes',
  'previous',
  'sinceSeconds',
  'stream',
  'tailLines',
  'timestamps',
];

function subresourceOperations(resource: ServedResource, sub: ServedSubresource): Record<string, Operation> {
  const { custom } = resource;
  const make = operationMaker(resource, sub.name);
  const own = sub.kind === resource.descriptor.kind;
  const body = own ? schemaNameFor(resource) : schemaNameOf(sub.group, sub.version, sub.kind);
  const kind = { group: sub.group, version: sub.version, kind: sub.kind };
  const out: Record<string, Operation> = {};
  const put = (method: string, operation: Operation) =>
    (out[method] = { ...operation, target: { action: operation.target?.action ?? method, kind } });
  for (const verb of sub.verbs) {
    switch (verb) {
      case 'get':
        if (sub.name === 'log') put('get', logOperation(make));
        else put('get', make('get', { answer: body, parameters: custom ? ['resourceVersion'] : [] }));
        break;
      case 'create':
        put('post', make('create', { body, answer: body, parameters: writeParameters }));
        break;
      case 'update':
        put('put', make('update', { body, answer: body, parameters: writeParameters }));
        break;
      case 'patch':
        put(
          'patch',
          make('patch', { body: patchSchema, answer: body, parameters: [...writeParameters, 'force'] }),
        );
        break;
      default:
        break;
    }
  }
  return out;
}

function logOperation(make: Maker): Operation {
  const { produces, ...rest } = make('get', { parameters: logParameters });
  return { ...rest, produces: ['text/plain', ...produces] };
}
