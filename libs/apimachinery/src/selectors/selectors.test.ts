import fc from 'fast-check';
import { parseFieldSelector } from './field-selector';
import { formatLabelSelector, parseLabelSelector, selectorOf } from './label-selector';

describe('label selectors', () => {
  const labels = { app: 'web', tier: 'front', size: '5', 'example.com/x': '' };

  it.each([
    ['', true],
    ['app=web', true],
    ['app==web,tier!=back', true],
    ['app', true],
    ['!app', false],
    ['!other', true],
    ['app in (api, web)', true],
    ['app notin (api,db)', true],
    ['other notin (a)', true],
    ['other!=a', true],
    ['size>4', true],
    ['size<5', false],
    ['app>1', false],
    ['example.com/x=', true],
    ['in in (x)', false],
    ['app in (,web)', true],
  ])('%s matches: %s', (text, expected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });

  it.each([
    ['app=web,', "found '', expected: identifier after ','"],
    ['app web', "unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt"],
    ['app in web', "unable to parse requirement: found 'web' expected: '('"],
    ['=web', "found '=', expected: !, identifier, or 'end of string'"],
    ['size>abc', 'the value must be an integer'],
    ['a b/c=d', 'unable to parse requirement'],
    ['app=a=b', "found '=', expected: ',' or 'end of string'"],
  ])('refuses %j', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });

  it('has no member of its prototype as a label', () => {
    expect(parseLabelSelector('constructor').matches({})).toBe(false);
  });

  it('reads LabelSelector objects: nothing for none, everything for an empty one', () => {
    expect(selectorOf(undefined).matches(labels)).toBe(false);
    expect(selectorOf({}).matches(labels)).toBe(true);
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [{ key: 'tier', operator: 'In', values: ['back', 'front'] }],
    };
    expect(selectorOf(selector).matches(labels)).toBe(true);
    expect(formatLabelSelector(selector)).toBe('app=web,tier in (back,front)');
  });

  it('refuses operators that it does not know', () => {
    const selector = { matchExpressions: [{ key: 'a', operator: 'Near' }] };
    expect(() => selectorOf(selector)).toThrow('"Near" is not a valid label selector operator');
  });

  it('reads what it writes', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
    const requirement = fc.oneof(
      fc.tuple(name, name).map(([key, value]) => `${key}=${value}`),
      fc
        .tuple(name, fc.array(name, { minLength: 1, maxLength: 3 }))
        .map(([key, list]) => `${key} in (${list.join(',')})`),
      name.map((key) => `!${key}`),
    );
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), (requirements) => {
        const once = parseLabelSelector(requirements.join(',')).toString();
        return parseLabelSelector(once).toString() === once;
      }),
    );
  });
});

describe('field selectors', () => {
  const fields = { 'metadata.name': 'a', 'status.phase': 'Running' };

  it.each([
    ['metadata.name=a', true],
    ['metadata.name==a,status.phase!=Failed', true],
    ['status.phase!=Running', false],
    ['spec.nodeName=', true],
    ['', true],
  ])('%s matches: %s', (text, expected) => {
    expect(parseFieldSelector(text).matches(fields)).toBe(expected);
  });

  it('reads escaped characters', () => {
    expect(parseFieldSelector('a=b\\,c\\=d').requirements).toEqual([
      { field: 'a', operator: '=', value: 'b,c=d' },
    ]);
  });

  it('refuses terms without an operator', () => {
    expect(() => parseFieldSelector('a=b,nonsense')).toThrow(
      "invalid selector: 'a=b,nonsense'; can't understand 'nonsense'",
    );
  });
});
