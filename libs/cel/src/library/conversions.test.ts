import { CelEnvironment } from '..';

const environment = new CelEnvironment(['self']);
const evaluate = (expression: string): unknown => environment.compile(expression).evaluate({ self: null });

describe('conversions and formats', () => {
  it.each([
    "string(duration('1h30m')) == '5400s'",
    "string(duration('-1ms')) == '-0.001s' && string(duration('1ns')) == '0.000000001s'",
    "string(timestamp('2023-01-02T03:04:05.120Z')) == '2023-01-02T03:04:05.12Z'",
    "string(timestamp(0)) == '1970-01-01T00:00:00Z'",
    "int(duration('1s')) == 1000000000 && int(timestamp('1970-01-01T00:01:00Z')) == 60 && int(3u) == 3",
    "duration(duration('1s')) == duration('1s') && timestamp(timestamp(0)) == timestamp(0)",
    "[duration('1s'), duration('2s')].sum() == duration('3s') && [1u, 2u].sum() == 3u",
    "semver('1.2.3') == semver('1.2.3')",
    "!format.uuid().validate('123e4567e89b12d3a456426614174000').hasValue()",
    "format.uuid().validate('x').value() == ['does not match the UUID format']",
    "format.byte().validate('').value() == ['invalid base64'] && !format.byte().validate('aGVsbG8=').hasValue()",
    "format.date().validate('2021-02-30').value() == ['invalid date']",
    "format.datetime().validate('2021-01-01').value() == ['invalid datetime']",
    "!format.datetime().validate('2021-01-01t00:00:00.123+02:00').hasValue()",
    "!format.uri().validate('http://example.com/a?b').hasValue() && !format.uri().validate('/a').hasValue()",
    "format.uri().validate('rel').value() == ['parse \"rel\": invalid URI for request']",
    "!format.dns1123LabelPrefix().validate('abc-').hasValue() && format.dns1123LabelPrefix().validate('-').hasValue()",
    "format.dns1123SubdomainPrefix().validate('a.').hasValue() && !format.dns1035LabelPrefix().validate('a--').hasValue()",
    "format.dns1123Label() == format.named('dns1123Label').value() && !format.named('nope').hasValue()",
  ])('%s', (expression) => expect(evaluate(expression)).toBe(true));

  it.each([
    ['1 % 0 == 0', 'modulus by zero'],
    ['9223372036854775807 + 1 == 0', 'integer overflow'],
    ['0u - 1u == 0u', 'unsigned integer overflow'],
    ['[1][5] == 1', 'index out of bounds: 5'],
    ["dyn('a') + 1 == 2", 'no such overload'],
    ["dyn('a') && true", 'no such overload'],
    ['dyn(1) ? true : false', 'no such overload'],
    ['dyn(1).size() == 1', 'no such overload: size'],
    ["'abc'.charAt(4) == ''", 'index out of range: 4'],
    [
      "url('rel').getHost() == ''",
      'URL parse error during conversion from string: parse "rel": invalid URI for request',
    ],
  ])("%s fails in cel-go's words", (expression, message) => {
    expect(() => evaluate(expression)).toThrow(expect.objectContaining({ message }));
  });
});
