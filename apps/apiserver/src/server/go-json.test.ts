import { goJson, indentedJson, wantsPretty } from './go-json';

describe('goJson', () => {
  it('escapes what HTML or JavaScript would take for its own', () => {
    expect(goJson({ a: '<b>&\u2028' })).toBe(String.raw`{"a":"\u003cb\u003e\u0026\u2028"}`);
  });
});

describe('wantsPretty', () => {
  it.each([
    ['/api', 'curl/8.5.0', true],
    ['/api', 'Wget/1.21', true],
    ['/api', 'Mozilla/5.0 (X11)', true],
    ['/api', 'kubectl/v1.35.0', false],
    ['/api', undefined, false],
    ['/api?pretty=true', undefined, true],
    ['/api?limit=1&pretty=1', undefined, true],
    ['/api?pretty=false', 'curl/8.5.0', false],
    ['/api?pretty=yes', 'curl/8.5.0', false],
    ['/api?pretty=', 'curl/8.5.0', true],
    ['/api/v1/namespaces/pretty', undefined, false],
  ])('%s of %s: %s', (url, agent, expected) => {
    expect(wantsPretty({ url, headers: { 'user-agent': agent } })).toBe(expected);
  });
});

describe('indentedJson', () => {
  const value = {
    text: 'a "quoted": [text], {}',
    list: [1, { inner: null }, [], {}],
    empty: {},
    none: [],
    map: { a: { b: true } },
  };

  it('writes what JSON.stringify would', () => {
    expect(indentedJson(`${JSON.stringify(value)}\n`)).toBe(JSON.stringify(value, null, 2));
  });

  it('keeps numbers that JavaScript has no place for', () => {
    expect(indentedJson('{"a":9223372036854775807,"b":1e400}')).toBe(
      '{\n  "a": 9223372036854775807,\n  "b": 1e400\n}',
    );
  });
});
