// Requests as a hostile or broken client might send them: recorded ones with a few changes of body, bytes, path, query and headers.
import fc from 'fast-check';

const hostileKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '$patch',
  '$retainKeys',
  '$setElementOrder/ports',
  '$deleteFromPrimitiveList/finalizers',
  '',
  'a.b/c',
  'metadata',
  'spec',
  'status',
  'apiVersion',
  'kind',
  'name',
  'items',
  'managedFields',
  'ownerReferences',
  'é\u0000\ud800',
];

const hostileValues = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 31) - 1,
  '',
  ' ',
  '-1',
  '1e9999',
  'NaN',
  '9'.repeat(40),
  'a'.repeat(300),
  '\u0000',
  '\ud800',
  '../..',
  '{{.}}',
  '2020-01-01T00:00:00Z',
  'P1D',
  '10.0.0.0/33',
  '::ffff:1.2.3.4',
  '100m',
  '0.1Ki',
  {},
  [],
  [null],
  { a: null },
  [[[]]],
  [{}, {}],
  { $patch: 'delete' },
];

const queryParameters = [
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'fieldManager',
  'fieldValidation',
  'force',
  'dryRun',
  'watch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
  'timeout',
  'pretty',
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'includeObject',
  'container',
  'tailLines',
  'sinceSeconds',
  'sinceTime',
  'limitBytes',
  'command',
  'ports',
  'path',
  '__proto__',
];

const queryValues = [
  '',
  '0',
  '1',
  '-1',
  '3',
  'true',
  'false',
  'All',
  'Exact',
  'NotOlderThan',
  'Strict',
  'Foreground',
  'abc',
  '99999999999999999999',
  '1.5',
  'a=b,c!=d',
  'a in (b',
  '!a,',
  'metadata.name=x',
  'spec.nodeName==',
  'status.phase!=a\\,b',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIifQ',
  '%00',
  '%ff%fe',
  '%',
  '%e2%80%ae',
  'a'.repeat(2000),
];

const segments = [
  '..',
  '.',
  '',
  '%2e%2e',
  '%2f',
  '%00',
  '%ff',
  '%',
  '__proto__',
  'constructor',
  'a'.repeat(300),
  '%F0%9F%92%A5',
  'status',
  'scale',
  'log',
  'exec',
  'attach',
  'portforward',
  'proxy',
  'eviction',
  'binding',
  'token',
  'ephemeralcontainers',
  'resize',
  'approval',
  'finalize',
  'namespaces',
  'pods',
  'configmaps',
  'watch',
  'v1',
  'v2',
  'apis',
  'openapi',
];

const contentTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/cbor',
  'application/json; charset=utf-16',
  'text/plain',
  ';',
  '',
];

const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=__proto__;v=v1;g=x',
  'text/html',
  '*/*;q=0',
  ';;,',
];

const texts = [
  '',
  'null',
  '[]',
  '"x"',
  '{',
  '}',
  '{"a":1}{"b":2}',
  '\u0000',
  '\ufeff{}',
  'a: &a [*a, *a]',
  '- op: add',
  'a: !!binary x',
  '? {a: b}\n: c',
  '---\n---\n',
  'a: b\na: c\n',
  '\ta: b',
  '<<: {a: b}',
  '%YAML 9.9\n---\na',
];

/** Where in a body: each number chooses one of the members there, until a leaf. */
const place = fc.array(fc.nat(30), { maxLength: 8 });
const key = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...hostileKeys) }, fc.string({ maxLength: 12 }));
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...hostileValues) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);
const bytes = fc.array(fc.tuple(fc.nat(1_000_000), fc.nat(255)), { minLength: 1, maxLength: 6 });

const inBody = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('set'), place, value }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete'), place }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add'), place, key, value }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rename'), place, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat'), place }) },
);

const inBytes = fc.oneof(
  fc.record({ do: fc.constant('duplicateKey'), at: fc.nat(1_000_000), key, value }),
  fc.record({ do: fc.constant('truncate'), at: fc.nat(1_000_000) }),
  fc.record({ do: fc.constant('overwrite'), bytes }),
  fc.record({
    do: fc.constant('nest'),
    at: fc.nat(1_000_000),
    depth: fc.constantFrom(10, 300, 9_999, 10_001, 60_000),
    what: fc.constantFrom('[', '{"a":', '{"metadata":', '- '),
  }),
  fc.record({ do: fc.constant('text'), text: fc.constantFrom(...texts) }),
);

const aroundBody = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('contentType'), type: fc.constantFrom(...contentTypes) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('accept'), type: fc.constantFrom(...accepts) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('header'),
      name: fc.constantFrom(
        'content-encoding',
        'impersonate-user',
        'impersonate-extra-%',
        'range',
        'if-none-match',
      ),
      value: fc.constantFrom('gzip', 'nobody', '', 'bytes=0-1', '"x"', 'system:serviceaccount:a:b:c'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('query'),
      name: fc.constantFrom(...queryParameters),
      value: fc.constantFrom(...queryValues),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('segment'),
      at: fc.nat(9),
      segment: fc.constantFrom(...segments),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('append'), segment: fc.constantFrom(...segments) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('shorten') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('method'),
      method: fc.constantFrom('GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('swapBody'), from: fc.nat(1_000_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('protobuf'), from: fc.nat(1_000_000) }) },
);

const mutation = fc.oneof(
  { weight: 10, arbitrary: inBody },
  { weight: 3, arbitrary: inBytes },
  { weight: 5, arbitrary: aroundBody },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('protobufBytes'), bytes }) },
);

// A body over the limit costs much time and tells little: one request in 400.
const oversized = fc.record({
  do: fc.constant('oversize'),
  bytes: fc.constantFrom(3_000_000, 3_145_729, 4_000_000),
});

/** A recorded request by number, and what is changed in it, in this order. */
export const mutatedRequest = fc.record({
  from: fc.nat(1_000_000),
  mutations: fc.oneof(
    { weight: 400, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.tuple(oversized) },
  ),
});
