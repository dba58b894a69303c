import { requestUriProblem } from './request-uri';

describe('requestUriProblem', () => {
  it.each([
    'http://example.com/a?b',
    '/a',
    '*',
    'mailto:a',
    'http://[::1]:80/',
    'http://u:p@h',
    'http://h/%20',
  ])('takes %s', (text) => expect(requestUriProblem(text)).toBeUndefined());

  it.each([
    ['', 'parse "": empty url'],
    ['rel', 'parse "rel": invalid URI for request'],
    ['http://[::1', 'parse "http://[::1": missing \']\' in host'],
    ['http://a b', 'parse "http://a b": invalid character " " in host name'],
    [':foo', 'parse ":foo": missing protocol scheme'],
    ['http://a:b', 'parse "http://a:b": invalid port ":b" after host'],
    ['/%zz', 'parse "/%zz": invalid URL escape "%zz"'],
    ['a\u0001', 'parse "a\\x01": net/url: invalid control character in URL'],
  ])('says of %j what is wrong', (text, problem) => expect(requestUriProblem(text)).toBe(problem));
});
