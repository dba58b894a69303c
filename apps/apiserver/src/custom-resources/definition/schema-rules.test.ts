import type { CustomResourceDefinition } from '@tinkernetes/api';
import type { Schema } from '../structural-schema';
import { schemaErrors } from './schema-rules';
import { versionErrors } from './version-rules';

const root = 'spec.validation.openAPIV3Schema';
const definition = (schema: Schema, version: object = {}): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kettles.depot.test' },
  spec: {
    group: 'depot.test',
    scope: 'Namespaced',
    names: { plural: 'kettles', kind: 'Kettle' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
  },
  status: { storedVersions: ['v1'] },
});
const errorsOf = (property: Schema): string[] =>
  schemaErrors(definition({ type: 'object', properties: { a: property } })).map(
    ({ field, message }) => `${field.replace(`${root}.properties[a]`, 'a')}: ${message}`,
  );
const text: Schema = { type: 'string' };

describe('schemaErrors', () => {
  it.each<[Schema, string[]]>([
    [{}, ['a.type: Required value: must not be empty for specified object fields']],
    [{ type: 'array' }, ['a.items: Required value: must be specified']],
    [
      { type: 'integer', allOf: [{ type: 'integer', title: 'x' }] },
      [
        'a.allOf[0].type: Forbidden: must be empty to be structural',
        'a.allOf[0].title: Forbidden: must be empty to be structural',
      ],
    ],
    [{ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, []],
    [
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
      [
        'a.anyOf[0].type: Forbidden: must be empty to be structural',
        'a.anyOf[1].type: Forbidden: must be empty to be structural',
      ],
    ],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: text } },
      },
      [
        'a.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ],
    ],
    [
      { type: 'object', properties: { x: text }, default: { y: 1 } },
      ['a.default: Invalid value: {"y":1}: must not have unknown fields'],
    ],
    [{ ...text, maxLength: 1, default: 'bb' }, ['a.default: Too long: may not be more than 1 byte']],
    [
      { ...text, 'x-kubernetes-validations': [{ rule: "self == 'a'" }], default: 'b' },
      [`a.default: Invalid value: "b": failed rule: self == 'a'`],
    ],
    [{ $ref: '#/x' }, ['a.$ref: Forbidden: $ref is not supported']],
    [
      {
        type: 'array',
        maxItems: 9,
        items: { ...text, maxLength: 9, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
      },
      [
        `a.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${root}.properties[a]`,
      ],
    ],
  ])('%j: %j', (property, expected) => {
    expect(errorsOf(property)).toEqual(expected);
  });
});

it('schemaErrors wants what junctors speak of outside of them, too', () => {
  const schema: Schema = { type: 'object', anyOf: [{ properties: { x: { minLength: 1 } } }] };
  expect(schemaErrors(definition(schema))).toEqual([
    {
      reason: 'FieldValueRequired',
      field: `${root}.properties[x]`,
      message: `Required value: because it is defined in ${root}.anyOf[0].properties[x]`,
    },
  ]);
});

describe('versionErrors', () => {
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { l: { type: 'array', items: text } } } },
  };
  it.each<[object, string]>([
    [{ deprecationWarning: 'x' }, 'Invalid value: "x": can only be set for deprecated versions'],
    [
      { deprecated: true, deprecationWarning: 'a\tb' },
      'Invalid value: "a\\tb": must only contain printable UTF-8 characters; non-printable character found at index 1',
    ],
    [
      { selectableFields: [{ jsonPath: '.spec.l[0]' }] },
      'Invalid value: ".spec.l[0]": is an invalid path: array notation is not allowed',
    ],
    [
      { subresources: { scale: { specReplicasPath: '.a', statusReplicasPath: '.status.b' } } },
      'Invalid value: ".a": should be a json path under .spec',
    ],
  ])('%j: %s', (version, message) => {
    expect(versionErrors(definition(schema, version)).map((error) => error.message)).toEqual([message]);
  });
});

describe('stored versions', () => {
  it('are found once each: a storage version that is there twice is missing once', () => {
    const version = { name: 'v1', served: true, storage: true };
    const errors = versionErrors({
      metadata: { name: 'foos.y.io' },
      spec: {
        group: 'y.io',
        scope: 'Cluster',
        names: { plural: 'foos', kind: 'Foo' },
        versions: [version, version],
      },
      status: { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
    });
    expect(errors.map(({ field }) => field)).toEqual([
      'spec.versions',
      'spec.versions',
      'status.storedVersions',
    ]);
    expect(errors.at(-1)?.message).toBe('Invalid value: ["v1"]: must have the storage version v1');
  });
});
