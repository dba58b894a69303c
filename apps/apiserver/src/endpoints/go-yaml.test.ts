import { goYaml } from './go-yaml';

describe('goYaml', () => {
  // As a kube-apiserver v1.36 writes them.
  it.each([
    ['a', 'a'],
    ['', '""'],
    ['1', '"1"'],
    ['1e3', '"1e3"'],
    ['e1', 'e1'],
    ['0x1F', '"0x1F"'],
    ['1_000', '"1_000"'],
    ['1:30', '"1:30"'],
    ['yes', '"yes"'],
    ['y', '"y"'],
    ['~', '"~"'],
    ['null', '"null"'],
    ['.', '.'],
    ['.5', '".5"'],
    ['2020-01-01', '"2020-01-01"'],
    ['2020-01-01T00:00:00Z', '"2020-01-01T00:00:00Z"'],
    ['*/5 * * * *', "'*/5 * * * *'"],
    ['@hourly', "'@hourly'"],
    ["it's: so", "'it''s: so'"],
    ['a #b', "'a #b'"],
    ['a:b', 'a:b'],
    ['- a', "'- a'"],
    ['-a', '-a'],
    [' a', "' a'"],
    ['a\tb', '"a\\tb"'],
    ['k:{"name":"a"}', 'k:{"name":"a"}'],
    ['<&>', '<&>'],
    ['é ü', 'é ü'],
    ['2020-13-01', '2020-13-01'],
    ['\u{1F600}', '"\\U0001F600"'],
    ['a\nb', '|-\n  a\n  b'],
    ['a\nb\n', '|\n  a\n  b'],
    ['a\n\nb\n\n', '|+\n  a\n\n  b\n'],
    [' a\n', '|2\n   a'],
    ['a \nb', '"a \\nb"'],
  ])('writes %j as %j', (text, expected) => {
    expect(goYaml({ x: text })).toBe(`x: ${expected}\n`);
  });

  it('nests as go-yaml does', () => {
    const value = { b: [{ d: 1, c: [] }, [1, [2]], 'x'], a: { 'f:x': { '.': {} } }, m: null, t: true };
    expect(goYaml(value)).toBe(
      'a:\n  f:x:\n    .: {}\nb:\n- c: []\n  d: 1\n- - 1\n  - - 2\n- x\n' + 'm: null\nt: true\n',
    );
  });

  it('sorts keys by the numbers in them, letters last', () => {
    const keys = ['a10', 'a2', 'b', 'A', 'a-b', 'ab', '_', 'a02'];
    expect(goYaml(Object.fromEntries(keys.map((key) => [key, 1])))).toBe(
      '_: 1\nA: 1\na-b: 1\na2: 1\na02: 1\na10: 1\nab: 1\nb: 1\n',
    );
  });

  it('folds what is longer than a line', () => {
    const text =
      'Name must be unique within a namespace: it is required when creating resources of all kinds';
    expect(goYaml([{ description: text }])).toBe(
      "- description: 'Name must be unique within a namespace: it is required when creating\n    resources of all kinds'\n",
    );
  });
});
