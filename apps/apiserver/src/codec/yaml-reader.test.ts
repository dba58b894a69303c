import * as fc from 'fast-check';
import { parseYaml } from './yaml-reader';

describe('parseYaml', () => {
  it.each([
    ['brackets', '['.repeat(501)],
    ['sequences in one line', '- '.repeat(501)],
    ['indentation', Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('refuses %s that go too deep before they are read', (_what, text) => {
    expect(() => parseYaml(text)).toThrow('exceeded max depth');
  });

  it.each([
    ['brackets', `${'['.repeat(400)}${']'.repeat(400)}`],
    ['indentation', Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('reads %s that go as deep as is allowed', (_what, text) => {
    expect(parseYaml(text).value).toBeDefined();
  });

  it('reads long texts whose brackets are closed', () => {
    const page = `page: "${'[x] '.repeat(2000)}"\n`;
    expect(parseYaml(page).value).toEqual({ page: '[x] '.repeat(2000) });
  });

  it.each([
    [': not [yaml', 'yaml: did not find expected key'],
    ['a:\n  : b', 'yaml: line 1: did not find expected key'],
  ])('refuses a value without a key: %j', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message);
  });

  it('replaces halves of characters', () => {
    expect(parseYaml(String.raw`a: "\ud800"`).value).toEqual({ a: '\ufffd' });
  });

  it.each([
    ['a: *b', "yaml: unknown anchor 'b' referenced"],
    ['a: .inf', 'json: unsupported value: +Inf'],
    ['{? [a, b] : c}', 'yaml: invalid map key: []interface {}{"a", "b"}'],
    ['null: d', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "d"'],
    ['a: "b\n', 'yaml: line 2: found unexpected end of stream'],
    ['b: c\na: @b', 'yaml: line 2: found character that cannot start any token'],
  ])('refuses %j, in the words of go-yaml', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message);
  });

  it('reads JSON as YAML, whatever it contains', () => {
    // With a space before it, it goes the way of all YAML.
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object);
        expect(parseYaml(`${text}\n`)).toEqual(parseYaml(` ${text}`));
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it.each([
    ['{"a":1,"a":2}', { a: 2 }, ['line 1: key "a" already set in map']],
    ['{"a":1e3}', { a: 1000 }, []],
    ['{"a":{"<<":{"b":1}}}', { a: { '<<': { b: 1 } } }, []],
    ['{"a":"\\ud800"}', { a: '\ufffd' }, []],
    ['{"a":"1e3 é"}\n\n', { a: '1e3 é' }, []],
  ])('reads %s', (text, value, duplicateLines) => {
    expect(parseYaml(text)).toMatchObject({ value, duplicateLines });
  });

  it('reads bytes as text', () => {
    expect(parseYaml('a: !!binary YQ==').value).toEqual({ a: 'a' });
  });

  it('reads a key that is an empty text', () => {
    expect(parseYaml('"": b').value).toEqual({ '': 'b' });
  });
});
