import { celTypes, createTypeChecker, resourceType } from './index';

const schemas = {
  'io.x.Meta': {
    type: 'object',
    properties: {
      name: { type: 'string' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      creationTimestamp: { type: 'string', format: 'date-time' },
    },
  },
  'io.x.Deployment': {
    type: 'object',
    properties: {
      metadata: { allOf: [{ $ref: '#/components/schemas/io.x.Meta' }] },
      spec: {
        type: 'object',
        properties: {
          replicas: { type: 'integer' },
          surge: { type: 'string', format: 'int-or-string' },
          'a-b': { type: 'string' },
          containers: {
            type: 'array',
            items: { type: 'object', properties: { name: { type: 'string' }, image: { type: 'string' } } },
          },
        },
      },
    },
  },
} as const;
const deployment = resourceType('Deployment', { $ref: '#/io.x.Deployment' }, schemas) ?? celTypes.dyn;
const checker = () => createTypeChecker({ object: deployment, oldObject: deployment, request: celTypes.dyn });

describe('a type checker', () => {
  it.each([
    'object.spec.replicas > 1',
    'object.spec.replicas > 1.5',
    'object.spec.surge == 1 || object.spec.surge == "a"',
    'object.spec.containers.all(c, c.image.startsWith("a"))',
    'object.metadata.labels["a"] == "b" && "c" in object.metadata.labels',
    'object.metadata.creationTimestamp < timestamp("2030-01-01T00:00:00Z")',
    'has(object.spec.replicas) && object.spec.a__dash__b == ""',
    'oldObject == null || object.spec != oldObject.spec',
    'object.apiVersion + object.kind == request.anything',
  ])('has no objection to %s', (expression) => {
    expect(checker().check(expression)).toBeUndefined();
  });

  it.each([
    ['object.foo > 1', 7, "undefined field 'foo'"],
    ['object.spec.containers.all(c, c.imag == "")', 32, "undefined field 'imag'"],
    ['has(object.spec.nope)', 4, "undefined field 'nope'"],
    ['object.spec.replicas > "a"', 22, "found no matching overload for '_>_' applied to '(int, string)'"],
    ['object.spec.replicas && true', 12, "expected type 'bool' but found 'int'"],
    ['!object.spec.replicas', 1, "found no matching overload for '!_' applied to '(int)'"],
    ['object.spec.replicas == null', 22, "found no matching overload for '_==_' applied to '(int, null)'"],
    [
      'object.kind.startsWith(1)',
      23,
      "found no matching overload for 'startsWith' applied to 'string.(int)'",
    ],
    ['object.spec.replicas.x', 21, "type 'int' does not support field selection"],
    ['nope == 1', 1, "undeclared reference to 'nope' (in container '')"],
  ])('finds in %s at column %i: %s', (expression, column, problem) => {
    expect(checker().check(expression)).toBe(
      `ERROR: <input>:1:${column}: ${problem}\n | ${expression}\n | ${'.'.repeat(column - 1)}^`,
    );
  });

  it('knows the types of variables, and nothing of those that are wrong', () => {
    const types = checker();
    types.declare('first', 'object.spec.containers[0]');
    types.declare('image', 'variables.first.image');
    types.declare('broken', 'object.nope');
    expect(types.check('variables.image.startsWith("a") && variables.broken.x')).toBeUndefined();
    expect(types.check('variables.image > 1')).toContain("'_>_' applied to '(string, int)'");
    expect(types.check('variables.other')).toContain("undefined field 'other'");
  });

  it('knows fields by whatever name', () => {
    const inner = { type: 'object', properties: { x: { type: 'integer' } } } as const;
    const names = ['a,b>', 'a<b', '', '\ufffd\u0000', '__proto__', 'constructor', 'a b', 'a_b_', 'in'];
    const properties = Object.fromEntries([...names, 'fine'].map((name) => [name, inner]));
    const object = resourceType('Odd', { type: 'object', properties }, {}) ?? celTypes.dyn;
    const types = createTypeChecker({ object });
    expect(types.check('object.fine.x == 1 && object.__in__.x == 1')).toBeUndefined();
    expect(types.check('object.fine.y')).toContain("undefined field 'y'");
  });

  it('reads a schema that contains itself as far as it goes', () => {
    const node = { type: 'object', properties: { value: { type: 'integer' }, next: { $ref: '#/node' } } };
    const object = resourceType('Node', { $ref: '#/node' }, { node }) ?? celTypes.dyn;
    expect(createTypeChecker({ object }).check('object.value == 1')).toBeUndefined();
  });
});
