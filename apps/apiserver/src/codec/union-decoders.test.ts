import { builtInCodec } from './object-codec';

const definitions = builtInCodec({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
});
const decode = (schema: unknown) =>
  definitions.decode({ spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } });
const decoded = (schema: unknown): unknown =>
  (decode(schema).object as unknown as { spec: { versions: { schema: { openAPIV3Schema: unknown } }[] } })
    .spec.versions[0]?.schema.openAPIV3Schema;

describe('schemas within schemas', () => {
  it.each([
    { items: { type: 'string' } },
    { items: [{ type: 'string' }] },
    { additionalProperties: { type: 'string' } },
    { additionalProperties: false },
    { dependencies: { a: ['b'], c: { type: 'object' } } },
  ])('are kept in each form: %j', (schema) => {
    expect(decoded(schema)).toEqual(schema);
  });

  it.each([
    [{ items: { properties: { a: null } } }, { items: { properties: { a: {} } } }],
    [{ items: [null] }, { items: [{}] }],
    [{ items: { nonsense: 1 } }, { items: {} }],
    [{ dependencies: { a: [null] } }, { dependencies: { a: [''] } }],
  ])('have the shape of a schema, whatever was sent: %j', (sent, expected) => {
    expect(decoded(sent)).toEqual(expected);
  });

  it.each(['x', 5, true, []])('are nothing where items are neither a schema nor a list: %j', (items) => {
    expect(decoded({ items })).toEqual({ items: null });
  });

  const at = 'Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema';
  it.each([
    [{ additionalProperties: 'x' }, 'boolean or JSON schema expected'],
    [
      { items: { properties: { a: { type: 5 } } } },
      `json: cannot unmarshal number into ${at}.items of type string`,
    ],
    [
      { items: { additionalProperties: { maxLength: 'x' } } },
      `json: cannot unmarshal string into ${at}.items of type int64`,
    ],
    [{ dependencies: { a: [5] } }, `json: cannot unmarshal number into ${at}.dependencies of type string`],
  ])('are refused at the outermost field that reads itself: %j', (schema, message) => {
    expect(() => decode(schema)).toThrow(message);
  });
});
