import { compileExpression } from '../index';
import { int, listOf, mapOf, string, structOf, timestamp, type CelType } from './cel-type';
import type { SizeOf } from './cost-estimator';

const inner = structOf('Inner', { x: string });
const self = structOf('Self', {
  s: string,
  i: int,
  l: listOf(string),
  li: listOf(int),
  m: mapOf(string, string),
  o: inner,
  t: timestamp,
});
const compiled = (expression: string) =>
  compileExpression(expression, { variables: { self, oldSelf: self } });

describe('compileExpression', () => {
  it.each([
    ["self.s == 'a' && self.l.all(x, x.startsWith('b'))", 'bool'],
    ['self.li.map(x, x * 2).filter(y, y > 1)', 'list(int)'],
    ['self.m.transformMap(k, v, v.size())', 'map(string, int)'],
    ['self.?o.?x.orValue("")', 'string'],
    ['[1].first().optMap(x, x + 1)', 'optional_type(int)'],
    ['type(self.i) == int', 'bool'],
    ["quantity('1').add(2).compareTo(quantity('3'))", 'int'],
    ["ip('10.0.0.1').family()", 'int'],
    ['self.o == null', 'bool'],
    ['self.i > 1.5', 'bool'],
    ['{}.a == 1', 'bool'],
    ['self.l.sortBy(x, x)', 'list(string)'],
  ])('%s is a %s', (expression, type) => {
    expect(compiled(expression).error).toBeUndefined();
    expect(compiled(expression).type).toBe(type);
  });

  it.each([
    ['self.zz', 5, "undefined field 'zz'"],
    ['self.s.zz', 7, "type 'string' does not support field selection"],
    ['foo(self.s)', 4, "undeclared reference to 'foo' (in container '')"],
    ["self.i == 'a'", 8, "found no matching overload for '_==_' applied to '(int, string)'"],
    ['self.s.startsWith(1)', 18, "found no matching overload for 'startsWith' applied to 'string.(int)'"],
    ['self.l.all(x, x > 1)', 17, "found no matching overload for '_>_' applied to '(string, int)'"],
    ['self.i && true', 5, "expected type 'bool' but found 'int'"],
    ['has(self)', 5, 'invalid argument to has() macro'],
    ['self.l.exists(1, x)', 15, 'argument must be a simple name'],
    ["[1, 'a'] == [1]", 5, "expected type 'int' but found 'string'"],
    ["self.s.matches('(')", 16, 'invalid matches argument'],
    ['99999999999999999999 == 1', 1, 'invalid int literal'],
    [
      'sets.contains([1], ["a"])',
      14,
      "found no matching overload for 'sets.contains' applied to '(list(int), list(string))'",
    ],
  ])('%s: at %d, %s', (expression, column, message) => {
    const dots = '.'.repeat(column - 1);
    const text = `compilation failed: ERROR: <input>:1:${column}: ${message}\n | ${expression}\n | ${dots}^`;
    expect(compiled(expression).error).toBe(text);
  });

  it('tells all that is wrong, in the order of the text', () => {
    expect(compiled('self.zz == 1 &&\n  self.yy == "é" || a').error).toBe(
      [
        "compilation failed: ERROR: <input>:1:5: undefined field 'zz'\n | self.zz == 1 &&\n | ....^",
        `ERROR: <input>:2:7: undefined field 'yy'\n |   self.yy == "é" || a\n | ......^`,
        `ERROR: <input>:2:21: undeclared reference to 'a' (in container '')\n |   self.yy == "é" || a\n | ..............．.....^`,
      ].join('\n'),
    );
  });

  it('knows which variables an expression speaks of', () => {
    expect([...compiled('self.l.all(oldSelf, oldSelf == "")').variables]).toEqual(['self']);
    expect([...compiled('self == oldSelf').variables]).toEqual(['self', 'oldSelf']);
  });
});

describe('cost', () => {
  const cost = (expression: string, type: CelType, sizeOf: SizeOf) =>
    compileExpression(expression, { variables: { self: type } }).cost(sizeOf);
  const sizes =
    (...values: number[]): SizeOf =>
    ({ length }) =>
      values[length - 1];

  // By cel-go's arithmetic: 1 for each name, field and call, 0.1 for each byte that is looked at.
  it.each<[string, CelType, number[], number]>([
    ['self.all(x, x > 1)', listOf(int), [7, 0], 1 + 7 * (2 + 1 + 2) + 1],
    ['self.exists(x, x > 1)', listOf(int), [7, 0], 1 + 7 * (3 + 1 + 2) + 1],
    ['self.all(i, x, x > i)', listOf(int), [7, 0], 1 + 7 * (2 + 1 + 3) + 1],
    ['self.filter(x, x > 1).all(y, y > 1)', listOf(int), [4, 0], 1 + 4 * 15 + 1 + 4 * 5 + 10 + 1],
    ["self.matches('^[a-z]+$')", string, [400], 1 + 41 * 2],
    ["self.contains('abcdefghijk')", string, [400], 1 + 40 * 2],
    ['self in [self]', string, [4], 1 + 10 + 1 + 1],
    ['self == self', string, [100], 2 + 10],
    ["self.l.all(x, x == 'ab')", structOf('S', { l: listOf(string) }), [0, 3, 40], 2 + 3 * (3 + 1 + 1) + 1],
  ])('%s', (expression, type, known, expected) => {
    expect(cost(expression, type, sizes(...known))).toBe(expected);
  });

  it("takes a list for as large as its neighbour, where upstream's paths share their memory", () => {
    const item = structOf('Item', { a: string, b: listOf(string) });
    const known: SizeOf = (path) => ({ l: 10, a: 40, b: 100 })[path.at(-1) ?? ''];
    const inner = (count: number) => 2 + count * (2 + 1 + 7) + 1;
    const type = structOf('S', { l: listOf(item) });
    expect(cost('self.l.all(x, x.b.all(y, y == x.a))', type, known)).toBe(2 + 10 * (3 + inner(40)) + 1);
  });

  it('is out of bounds for loops in loops over what has no bounds', () => {
    const unbounded = sizes(3_000_000, 3_000_000);
    expect(cost('self.all(x, self.all(y, x == y))', listOf(string), unbounded)).toBeGreaterThan(1e12);
  });
});
