import { CelEnvironment } from '@tinkernetes/cel';
import { RuleCosts } from './definition/expression-rules';
import { openApiErrors } from './definition/openapi-rules';
import { estimatedCost } from './rule-cost';
import type { Schema } from './structural-schema';

const strings: Schema = { type: 'array', items: { type: 'string' } };
const environment = new CelEnvironment(['self', 'oldSelf']);
const ruleCostLimit = 10_000_000;
const costOf = (expression: string, schema: Schema) => estimatedCost(environment.compile(expression), schema);

describe('estimatedCost', () => {
  it('refuses loops within loops over unbounded lists', () => {
    expect(costOf('self.all(x, self.all(y, x == y))', strings)).toBeGreaterThan(100 * ruleCostLimit);
  });

  it('allows them over bounded lists of bounded texts, and one loop over an unbounded one', () => {
    const bounded = { type: 'array', maxItems: 50, items: { type: 'string', maxLength: 20 } };
    expect(costOf('self.all(x, self.all(y, x == y))', bounded)).toBeLessThan(ruleCostLimit);
    expect(costOf("self.all(x, x.startsWith('a'))", strings)).toBeLessThan(ruleCostLimit);
  });

  const text = (maxLength: number): Schema => ({ type: 'string', maxLength });
  const list = (maxItems: number, items: Schema): Schema => ({ type: 'array', maxItems, items });
  const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });
  const map = (maxProperties: number, values: Schema): Schema => ({
    type: 'object',
    maxProperties,
    additionalProperties: values,
  });
  // By cel-go's arithmetic: 1 for each name, field and call, 0.1 for each byte that is looked at.
  it.each<[string, Schema, number]>([
    ['self.a == 1', object({ a: { type: 'integer' } }), 3],
    ['self.items.exists(x, x > 1)', object({ items: list(7, { type: 'integer' }) }), 2 + 7 * (4 + 2) + 1],
    ['self.all(x, x > 1)', list(7, { type: 'integer' }), 1 + 7 * (3 + 2) + 1],
    ['self.all(i, x, x > i)', list(7, { type: 'integer' }), 1 + 7 * (3 + 3) + 1],
    ['self.all(k, v, v > 1)', map(7, { type: 'integer' }), 1 + 7 * (3 + 2) + 1],
    // The inner list is found through the outer loop's variable.
    [
      'self.all(x, x.l.all(y, y > 1))',
      list(3, object({ l: list(5, { type: 'integer' }) })),
      1 + 3 * (3 + 2 + 5 * 5 + 1) + 1,
    ],
    ['self.filter(x, x > 1).all(y, y > 1)', list(4, { type: 'integer' }), 1 + 4 * (13 + 2) + 1 + 4 * 5 + 1],
    ["self.matches('^[a-z]+$')", text(100), 1 + 41 * 2],
    ["self.contains('abcdefghijk')", text(100), 1 + 40 * 2],
    ['self in self', list(9, text(1)), 2 + 9],
    ['self == self', text(25), 2 + 10],
    ['true ? self.size() : self', text(25), 2],
    ['cel.bind(x, self, x.all(y, y > 1))', list(2, { type: 'integer' }), 1 + (1 + 2 * 5 + 1) + 1],
  ])('%s', (expression, schema, expected) => {
    expect(costOf(expression, schema)).toBe(expected);
  });
});

describe('openApiErrors', () => {
  const advice =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  const withRule = (rule: string, schema: Schema, more: object = {}): Schema => ({
    ...schema,
    'x-kubernetes-validations': [{ rule, ...more }],
  });
  const messages = (schema: Schema) => {
    const costs = new RuleCosts();
    const errors = openApiErrors(schema, { path: 'root', expressions: { cardinality: 1, costs } });
    return errors.map(({ field, message }) => [field, message]);
  };

  it("says by what factor a rule exceeds its budget, in upstream's words", () => {
    const nested = (maxItems: number): Schema => ({ type: 'array', maxItems, items: { type: 'integer' } });
    const rule = 'self.all(x, self.all(y, x != y))';
    expect(messages(withRule(rule, nested(1000)))).toEqual([]);
    expect(messages(withRule(rule, nested(2000)))).toEqual([
      [
        'root.x-kubernetes-validations[0].rule',
        `Forbidden: estimated rule cost exceeds budget by factor of 2.4x ${advice}`,
      ],
    ]);
  });

  it('counts a rule for each element of the lists and maps that it is in', () => {
    const rule = "self.matches('^a$')";
    const inner = withRule(rule, { type: 'string', maxLength: 10_000 });
    expect(messages({ type: 'array', maxItems: 100, items: inner })).toEqual([]);
    const field = 'root.additionalProperties.items.x-kubernetes-validations[0].rule';
    const outer = { type: 'array', maxItems: 100, items: inner };
    expect(messages({ type: 'object', maxProperties: 100, additionalProperties: outer })).toEqual([
      [field, `Forbidden: estimated rule cost exceeds budget by factor of 4.0x ${advice}`],
    ]);
    expect(messages({ type: 'array', items: inner })).toContainEqual([
      'root.items.x-kubernetes-validations[0].rule',
      `Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`,
    ]);
  });

  it('limits message expressions, too', () => {
    const messageExpression = "self.map(x, self.map(y, x + y)).size() > 1 ? 'a' : 'b'";
    expect(
      messages(withRule('self.size() < 9', { ...strings, maxItems: 100 }, { messageExpression })),
    ).toContainEqual([
      'root.x-kubernetes-validations[0].messageExpression',
      `Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x ${advice}`,
    ]);
  });
});
