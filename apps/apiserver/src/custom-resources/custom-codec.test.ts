import { customCodec } from './custom-codec';
import { duplicateErrors } from './unique-items';
import { validateValue } from './validate-value';
import type { Schema } from './structural-schema';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        mode: { type: 'string', default: 'slow' },
        note: { type: 'string', nullable: true, default: 'n' },
        size: { type: 'integer', minimum: 1 },
        port: { 'x-kubernetes-int-or-string': true },
        extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: {
            type: 'object',
            properties: { k: { type: 'string' }, v: { type: 'string', default: 'd' } },
          },
        },
      },
    },
  },
};
const codec = customCodec({ group: 'depot.test', version: 'v1', kind: 'Kettle' }, schema);
const specOf = (spec: object) =>
  (codec.decode({ metadata: { name: 'a' }, spec }).object as unknown as { spec: object }).spec;

describe('customCodec', () => {
  it('prunes unknown fields and says which', () => {
    const { object, unknown } = codec.decode({
      metadata: { name: 'a', bogus: 1 },
      spec: { stray: 1 },
      top: 2,
    });
    expect(unknown).toEqual([
      'unknown field "metadata.bogus"',
      'unknown field "spec.stray"',
      'unknown field "top"',
    ]);
    expect(object).toEqual({
      apiVersion: 'depot.test/v1',
      kind: 'Kettle',
      metadata: { name: 'a' },
      spec: { mode: 'slow', note: 'n' },
    });
  });

  it('keeps a null that is allowed, and takes the default for one that is not', () => {
    expect(specOf({ mode: null, note: null, extra: { any: { deep: null } } })).toEqual({
      mode: 'slow',
      note: null,
      extra: { any: { deep: null } },
    });
  });

  it('fills defaults in list elements', () => {
    expect(specOf({ list: [{ k: '1' }] })).toMatchObject({ list: [{ k: '1', v: 'd' }] });
  });
});

describe('validateValue', () => {
  it.each([
    [{ spec: {} }, 'spec.size', 'Required value'],
    [
      { spec: { size: 0 } },
      'spec.size',
      'Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ],
    [
      { spec: { size: 'x' } },
      'spec.size',
      'Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
    [
      { spec: { size: 1, port: 1.5 } },
      'spec.port',
      'Invalid value: "number": spec.port in body must be of type integer,string: "number"',
    ],
  ])('%j breaks %s', (value, field, message) => {
    expect(validateValue(value, schema, '')).toEqual([expect.objectContaining({ field, message })]);
  });
});

it('duplicateErrors tells elements of a list map that are there twice', () => {
  const errors = duplicateErrors({ spec: { list: [{ k: 'a' }, { k: 'a' }, { k: 'a' }] } }, schema, '');
  expect(errors).toEqual([
    { reason: 'FieldValueDuplicate', field: 'spec.list[1]', message: 'Duplicate value: {"k":"a"}' },
  ]);
});
