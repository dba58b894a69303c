import fc from 'fast-check';
import { hasCuts } from './json-depth';
import { JsonSyntaxError } from './json-syntax-error';
import { parseJson } from './json-reader';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('parseJson', () => {
  it.each([
    ['{"a":1,"a":2}', { a: 2 }, ['a']],
    ['{ "data": {"a":"1"}, "data": {"b":"2"} }', { data: { a: '1', b: '2' } }, ['data']],
    ['{"l":[{"x":1,"x":1}]}', { l: [{ x: 1 }] }, ['l[0].x']],
    ['{"a":"\\u00e9\\n"} ', { a: 'é\n' }, []],
  ])('reads %s and names the keys that occur twice', (text, value, duplicates) => {
    expect(parseJson(text)).toEqual({ value, duplicates });
  });

  it.each([
    ['', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['nul', 'unexpected end of JSON input'],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['\\', "invalid character '\\\\' looking for beginning of value"],
    ['"\t"', "invalid character '\\t' in string literal"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ])('refuses %s in the words of encoding/json', (text, message) => {
    expect(() => parseJson(text)).toThrow(new JsonSyntaxError(message));
  });

  it('refuses what is too deep instead of overflowing the stack', () => {
    expect(() => parseJson('['.repeat(200_000))).toThrow("invalid character '[' exceeded max depth");
    expect(() => parseJson(nested(10_001))).toThrow("invalid character '[' exceeded max depth");
    expect(() => parseJson(`["]]]]]]]]\\\\", "\\"]]]]", ${nested(10_000)}]`)).toThrow('exceeded max depth');
  });

  it('reads what is deep, and says that it has kept no more than the beginning', () => {
    const { value, isCut } = parseJson(`{"a":${nested(9_999)},"b":1}`);
    expect(isCut).toBe(true);
    expect(hasCuts(value)).toBe(true);
    expect(value).toHaveProperty('b', 1);
    expect(parseJson(nested(500)).isCut).toBeUndefined();
  });

  it.each([
    ['{"a":1,}', 'looking for beginning of object key string'],
    ['[1,]', 'looking for beginning of value'],
    ['[1 2]', 'after array element'],
    ['{"a" 1}', 'after object key'],
    ['{"a":1 "b":2}', 'after object key:value pair'],
  ])('finds fault with %s in the depth, too', (text, fault) => {
    expect(() => parseJson(`${'['.repeat(600)}${text}${']'.repeat(600)}`)).toThrow(fault);
  });

  it('takes 500 levels, and any number of brackets in strings', () => {
    expect(JSON.stringify(parseJson(nested(500)).value)).toBe(nested(500));
    const text = JSON.stringify({ data: { page: '[{'.repeat(2000) } });
    expect(JSON.stringify(parseJson(text).value)).toBe(text);
  });

  it('keeps prototypes clean', () => {
    const { value } = parseJson('{ "__proto__": {"polluted": true}, "constructor": 1 }');
    expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    [String.raw`{"a":"x\ud800"}`, { a: 'x\ufffd' }],
    [String.raw`{"\uDC00":["\ud83d\ude00"]}`, { '\ufffd': ['\u{1f600}'] }],
  ])('replaces halves of characters, and keeps whole ones: %s', (text, value) => {
    expect(parseJson(text).value).toEqual(value);
  });

  it('agrees with JSON.parse on everything that is JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n'), (text, space) => {
        expect(parseJson(space + text + space).value).toEqual(JSON.parse(text));
      }),
    );
  });
});
