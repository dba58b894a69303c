import { CelAuthorizer, CelCompileError, CelEnvironment, toCelValue } from '..';

const environment = new CelEnvironment(['self', 'authorizer']);
const self = toCelValue({ text: 'ab', list: [4, 5], labels: { a: '1' } });
const evaluate = (expression: string, more: Record<string, unknown> = {}): unknown =>
  environment.compile(expression).evaluate({ self, ...more });

describe('optional values', () => {
  it.each([
    "self.?text.optMap(t, t + 'x').orValue('no') == 'abx'",
    "!self.?nope.optMap(t, t + 'x').hasValue()",
    "self.?labels.optFlatMap(l, l[?'a']).orValue('none') == '1'",
    "self.?labels.optFlatMap(l, l[?'zz']).orValue('none') == 'none'",
    'optional.of([1, 2]).optMap(l, l.map(x, x * 2)).value() == [2, 4]',
    '[?optional.of(1), ?optional.none(), 3] == [1, 3]',
    '[[?optional.of(1)], [?optional.none()]] == [[1], []]',
    "'a' in [?optional.of('a')] && [?self.labels[?'q']].size() == 0",
    '[true ? 1 : 2, ?(false ? optional.none() : optional.of(3))] == [1, 3]',
    '[?optional.of(1)][?0].value() == 1 && [?self.?list[?1].optMap(x, [x, x][0])] == [5]',
    "{?'a': optional.of(1), ?'b': optional.none(), 'c': 3} == {'a': 1, 'c': 3}",
    "{'x': {?'a': optional.of([?optional.of(2)])}} == {'x': {'a': [2]}}",
    "{?('a' + 'b'): true ? optional.of(1) : optional.none()}.ab == 1",
    "['[?', \"{?\"].size() == 2 && [?optional.of('[?x, y]')] == ['[?x, y]']",
    "['', 0, 0u, 0.0, false, [], {}, b'', null, duration('0s')].all(x, !optional.ofNonZeroValue(x).hasValue())",
    "!optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()",
    "['a', 1, [0], {'a': 0}, timestamp(0)].all(x, optional.ofNonZeroValue(x).hasValue())",
    'optional.ofNonZeroValue(optional.none()).hasValue()',
    'optional.unwrap([optional.of(1), optional.none()]) == [1] && [optional.of(2)].unwrapOpt() == [2]',
    'optional.of(1) == optional.of(1) && optional.of(1) != optional.none()',
    "optional.none() == optional.none() && optional.of({'a': b'x'}) == optional.of({'a': b'x'})",
  ])('%s', (expression) => expect(evaluate(expression)).toBe(true));

  it('refuses what is no optional where one must be', () => {
    expect(() => evaluate('[1].optMap(x, x)')).toThrow(CelCompileError);
    expect(() => evaluate('optional.of(1).optFlatMap(x, x)')).toThrow(CelCompileError);
    expect(() => evaluate('optional.of(1).optMap(1, 2)')).toThrow(
      'variable name must be a simple identifier',
    );
    expect(() => evaluate('[?self.list]')).toThrow('no such overload');
    expect(() => evaluate('self.?nope.value()')).toThrow('optional.none() dereference');
  });

  it('waits for what asks the authorizer', async () => {
    const authorizer = new CelAuthorizer(
      { authorize: async () => ({ decision: 'allow', reason: '' }) },
      { name: 'ann', groups: [] },
    );
    const asked = `optional.of('get').optMap(v, authorizer.path('/a').check(v).allowed()).value()`;
    expect(await evaluate(asked, { authorizer })).toBe(true);
  });
});
