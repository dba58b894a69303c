import type { ServedResource } from '../registry/generic/served-resource';

/** An operation, before it is written in one of the two OpenAPI versions. */
export interface Operation {
  operationId: string;
  tag: string;
  description: string;
  /** What is done with which kind; undefined: discovery. */
  target?: { action: string; kind: { group: string; version: string; kind: string } };
  consumes: readonly string[];
  produces: readonly string[];
  /** Full schema name. */
  body?: string;
  /** Full schema name; undefined: any text. */
  answer?: string;
  /** Status codes of what goes well. */
  codes: readonly AnswerCode[];
  parameters: readonly string[];
}
export type Paths = Record<string, Record<string, Operation>>;

export type AnswerCode = keyof typeof answerTexts;
export const answerTexts = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;

export const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
];
export const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'];
export const deleteParameters = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];

const any = ['*/*'];
export const customTypes = ['application/json', 'application/yaml'];
export const objectTypes = [...customTypes, 'application/vnd.kubernetes.protobuf'];
const watchTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** kubectl tells from these whether a kind can be merged strategically: custom ones can't. */
const patchTypes = (custom: boolean): string[] => [
  'application/json-patch+json',
  'application/merge-patch+json',
  ...(custom ? [] : ['application/strategic-merge-patch+json']),
  'application/apply-patch+yaml',
];

/** `Core`, `Apps`, `RbacAuthorization`: how operations name a group. */
export const groupName = (group: string): string =>
  (group || 'core')
    .replace(/\.k8s\.io$/, '')
    .split('.')
    .map(capitalize)
    .join('');

/** `core_v1`: the tag of a version's operations. */
export const tagOf = (group: string, version: string): string =>
  `${groupName(group).replace(/^./, (first) => first.toLowerCase())}_${version}`;

const article = (noun: string): string =>
  noun.endsWith('s') && !noun.endsWith('ss') ? '' : /^[AEIOU]/.test(noun) ? 'an ' : 'a ';

interface VerbForm {
  id: string;
  action: string;
  codes: readonly AnswerCode[];
  /** What is said of the kind, or of its subresource. */
  text(kind: string, sub: string, canWatch: boolean): string;
}

const specified = (verb: string) => (kind: string, sub: string) =>
  `${verb} ${sub && `${sub} of `}the specified ${kind}`;

const verbForms = {
  list: {
    id: 'list',
    action: 'list',
    codes: [200],
    text: (kind, _sub, canWatch) => `list ${canWatch ? 'or watch ' : ''}objects of kind ${kind}`,
  },
  create: {
    id: 'create',
    action: 'post',
    codes: [200, 201, 202],
    text: (kind, sub) => `create ${sub && `${sub} of `}${article(kind)}${kind}`,
  },
  deletecollection: {
    id: 'delete',
    action: 'deletecollection',
    codes: [200],
    text: (kind) => `delete collection of ${kind}`,
  },
  get: { id: 'read', action: 'get', codes: [200], text: specified('read') },
  update: { id: 'replace', action: 'put', codes: [200, 201], text: specified('replace') },
  patch: { id: 'patch', action: 'patch', codes: [200, 201], text: specified('partially update') },
  delete: {
    id: 'delete',
    action: 'delete',
    codes: [200, 202],
    text: (kind) => `delete ${article(kind)}${kind}`,
  },
} satisfies Record<string, VerbForm>;
export type Verb = keyof typeof verbForms;

export type Maker = (verb: Verb, more: Pick<Operation, 'body' | 'answer' | 'parameters'>) => Operation;

/** Makes the operations of a resource or, where `sub` names it, of its subresource. Source: k8s.io/apiserver/pkg/endpoints/installer.go. */
export function operationMaker(resource: ServedResource, sub = ''): Maker {
  const { custom, verbs } = resource;
  const { group, version, kind, namespaced } = resource.descriptor;
  const name = groupName(group) + capitalize(version);
  const scope = namespaced ? 'Namespaced' : '';
  const types = custom ? customTypes : objectTypes;
  return (verb, more) => {
    const { id, action, codes, text }: VerbForm = verbForms[verb];
    const collection = verb === 'deletecollection' ? 'Collection' : '';
    return {
      operationId: `${id}${name}${collection}${scope}${kind}${capitalize(sub)}`,
      tag: tagOf(group, version),
      description: text(kind, sub, !custom && verbs.has('watch')),
      target: { action, kind: { group, version, kind } },
      consumes: verb === 'patch' ? patchTypes(custom) : custom && more.body ? customTypes : any,
      produces: verb === 'list' && !custom && verbs.has('watch') ? [...types, ...watchTypes] : types,
      codes: custom && verb === 'patch' ? [200] : codes,
      ...more,
    };
  };
}

const connectMethods = ['get', 'post'];
const proxyMethods = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'];
const connectParameters: Readonly<Record<string, readonly string[]>> = {
  attach: ['container', 'stderr', 'stdin', 'stdout', 'tty'],
  exec: ['command', 'container', 'stderr', 'stdin', 'stdout', 'tty'],
  portforward: ['ports'],
  proxy: ['path'],
};

/** What is passed through to a Pod, Service or node; undefined: `sub` is no such subresource. */
export function connectOperations(
  { descriptor }: ServedResource,
  sub: { name: string; group: string; version: string; kind: string },
  suffix = '',
): Record<string, Operation> | undefined {
  const parameters = connectParameters[sub.name];
  if (!parameters) return undefined;
  const { group, version, kind, namespaced } = descriptor;
  const name = groupName(group) + capitalize(version);
  const rest = `${namespaced ? 'Namespaced' : ''}${kind}${capitalize(sub.name)}${suffix}`;
  const methods = sub.name === 'proxy' ? proxyMethods : connectMethods;
  return Object.fromEntries(
    methods.map((method): [string, Operation] => [
      method,
      {
        operationId: `connect${name}${capitalize(method)}${rest}`,
        tag: tagOf(group, version),
        description: `connect ${method.toUpperCase()} requests to ${sub.name} of ${kind}`,
        target: { action: 'connect', kind: { group: sub.group, version: sub.version, kind: sub.kind } },
        consumes: any,
        produces: any,
        codes: [200],
        parameters,
      },
    ]),
  );
}

const booleans = new Set([
  'allowWatchBookmarks',
  'follow',
  'force',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'insecureSkipTLSVerifyBackend',
  'orphanDependents',
  'previous',
  'sendInitialEvents',
  'stderr',
  'stdin',
  'stdout',
  'timestamps',
  'tty',
  'watch',
]);
const integers = new Set([
  'gracePeriodSeconds',
  'limit',
  'limitBytes',
  'ports',
  'sinceSeconds',
  'tailLines',
  'timeoutSeconds',
]);

export const parameterType = (name: string): 'boolean' | 'integer' | 'string' =>
  booleans.has(name) ? 'boolean' : integers.has(name) ? 'integer' : 'string';

/** How an answer is to be written. */
export const prettyParameter = 'pretty';

/** Whether what is there is an object of the API: neither passed through to elsewhere nor about the server. */
export const takesPretty = (methods: Paths[string]): boolean =>
  Object.values(methods).some(({ target }) => target !== undefined && target.action !== 'connect');
