import { apiPathOf } from '@tinkernetes/api';
import type { ServedResource, ServedSubresource } from '../registry/generic/served-resource';
import { schemaNameOf } from '../codec/object-codec';
import { schemaNameFor } from './schema-names';

/** An operation, before it is written in one of the two OpenAPI versions. */
export interface Operation {
  operationId: string;
  tag: string;
  action: string;
  kind: { group: string; version: string; kind: string };
  /** Full schema names; undefined: free form. */
  body?: string;
  answer?: string;
  parameters: readonly string[];
}
export type Paths = Record<string, Record<string, Operation>>;

const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
];
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'];
const deleteParameters = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'];
const statusSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
const patchSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch';
const deleteOptions = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** kubectl tells from these whether a kind can be merged strategically: custom ones can't. */
export const patchTypes = (custom: boolean): string[] => [
  'application/json-patch+json',
  'application/merge-patch+json',
  ...(custom ? [] : ['application/strategic-merge-patch+json']),
  'application/apply-patch+yaml',
];

/** `AppsV1`, `CoreV1`: how operations are named. */
const groupName = ({ descriptor }: ServedResource): string => {
  const group = descriptor.group === '' ? 'core' : (descriptor.group.split('.')[0] ?? '');
  return capitalize(group) + capitalize(descriptor.version);
};

/** All paths of a resource, with what can be done there. */
export function pathsOf(resource: ServedResource): Paths {
  const { descriptor, verbs } = resource;
  const base = apiPathOf(descriptor);
  const scope = descriptor.namespaced ? '/namespaces/{namespace}' : '';
  const collection = `${base}${scope}/${descriptor.resource}`;
  const paths: Paths = {};
  const add = (path: string, method: string, operation: Operation) => {
    (paths[path] ??= {})[method] = operation;
  };
  const make = operationMaker(resource);
  if (verbs.has('list'))
    add(collection, 'get', make('list', { answer: listName(resource), parameters: listParameters }));
  if (verbs.has('create')) {
    const body = schemaNameFor(resource);
    add(collection, 'post', make('create', { body, answer: body, parameters: writeParameters }));
  }
  if (verbs.has('deletecollection')) {
    add(
      collection,
      'delete',
      make('deletecollection', { body: deleteOptions, answer: statusSchema, parameters: listParameters }),
    );
  }
  if (descriptor.namespaced && verbs.has('list')) {
    const all = make('list', { answer: listName(resource), parameters: listParameters });
    const operationId = all.operationId.replace('Namespaced', '') + 'ForAllNamespaces';
    add(`${base}/${descriptor.resource}`, 'get', { ...all, operationId });
  }
  for (const [method, operation] of Object.entries(itemOperations(resource, make))) {
    add(`${collection}/{name}`, method, operation);
  }
  for (const sub of resource.subresources.values()) {
    for (const [method, operation] of Object.entries(subresourceOperations(resource, sub))) {
      add(`${collection}/{name}/${sub.name}`, method, operation);
    }
  }
  return paths;
}

type Maker = (verb: string, more: Pick<Operation, 'body' | 'answer' | 'parameters'>) => Operation;

const operationNames: Readonly<Record<string, [id: string, action: string]>> = {
  list: ['list', 'list'],
  create: ['create', 'post'],
  deletecollection: ['deleteCollection', 'deletecollection'],
  get: ['read', 'get'],
  update: ['replace', 'put'],
  patch: ['patch', 'patch'],
  delete: ['delete', 'delete'],
};

function operationMaker(resource: ServedResource, suffix = ''): Maker {
  const { group, version, kind, namespaced } = resource.descriptor;
  const name = groupName(resource);
  return (verb, more) => {
    const [id, action] = operationNames[verb] ?? [verb, verb];
    const collection = verb === 'deletecollection' ? 'Collection' : '';
    const verbName = verb === 'deletecollection' ? 'delete' : id;
    return {
      operationId: `${verbName}${name}${collection}${namespaced ? 'Namespaced' : ''}${kind}${suffix}`,
      tag: name.replace(/^./, (c) => c.toLowerCase()).replace(/V(\d)/, '_v$1'),
      action,
      kind: { group, version, kind },
      ...more,
    };
  };
}

const listName = (resource: ServedResource): string => `${schemaNameFor(resource)}List`;

function itemOperations(resource: ServedResource, make: Maker): Record<string, Operation> {
  const { verbs } = resource;
  const body = schemaNameFor(resource);
  const out: Record<string, Operation> = {};
  if (verbs.has('get')) out.get = make('get', { answer: body, parameters: [] });
  if (verbs.has('update')) out.put = make('update', { body, answer: body, parameters: writeParameters });
  if (verbs.has('patch'))
    out.patch = make('patch', { body: patchSchema, answer: body, parameters: [...writeParameters, 'force'] });
  if (verbs.has('delete'))
    out.delete = make('delete', { body: deleteOptions, answer: statusSchema, parameters: deleteParameters });
  return out;
}

function subresourceOperations(resource: ServedResource, sub: ServedSubresource): Record<string, Operation> {
  const make = operationMaker(resource, capitalize(sub.name));
  const own = sub.kind === resource.descriptor.kind;
  const body = own ? schemaNameFor(resource) : schemaNameOf(sub.group, sub.version, sub.kind);
  const kind = { group: sub.group, version: sub.version, kind: sub.kind };
  const out: Record<string, Operation> = {};
  const put = (method: string, operation: Operation) => (out[method] = { ...operation, kind });
  for (const verb of sub.verbs) {
    switch (verb) {
      case 'get':
        put('get', make('get', { answer: body, parameters: [] }));
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
      case 'delete':
        put('delete', make('delete', { answer: statusSchema, parameters: deleteParameters }));
        break;
      default:
        break;
    }
  }
  return out;
}

const booleans = new Set(['allowWatchBookmarks', 'sendInitialEvents', 'watch', 'orphanDependents', 'force']);
const integers = new Set(['limit', 'timeoutSeconds', 'gracePeriodSeconds']);

export const parameterType = (name: string): 'boolean' | 'integer' | 'string' =>
  booleans.has(name) ? 'boolean' : integers.has(name) ? 'integer' : 'string';
