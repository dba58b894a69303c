import { CelAuthorizer, CelCompileError, CelEnvironment, costExceeded, toCelValue } from '.';

const environment = new CelEnvironment(['object', 'authorizer']);
const evaluate = (expression: string, object: unknown = {}, more: Record<string, unknown> = {}) =>
  environment.compile(expression).evaluate({ object: toCelValue(object), ...more });

describe('CelEnvironment', () => {
  it.each([
    ['object.replicas <= 5', { replicas: 3 }, true],
    ['object.replicas + 1 == 4', { replicas: 3 }, true],
    [
      "object.containers.all(c, c.image.startsWith('registry/'))",
      { containers: [{ image: 'registry/a' }] },
      true,
    ],
    ['has(object.a) && object.a.b > 1.5', { a: { b: 2 } }, true],
    ['has(object.a["x"].b) && !has( object.a.x.c )', { a: { x: { b: 2 } } }, true],
    [
      'has(object.list[0].b) && "has(" + r"\\has(" == object.text',
      { list: [{ b: 1 }], text: 'has(\\has(' },
      true,
    ],
    ["object.labels.exists(k, object.labels[k] == 'x')", { labels: { a: 'x' } }, true],
    ["object.?missing.orValue('d')", {}, 'd'],
    ["'locked' in object.labels", { labels: { locked: '' } }, true],
    ['[3, 1, 2].isSorted()', {}, false],
    ['object.list.sum() == 6', { list: [1, 2, 3] }, true],
    ["quantity('1Gi').isGreaterThan(quantity('500Mi'))", {}, true],
    ["quantity(object.cpu).compareTo(quantity('250m')) == 0", { cpu: '0.25' }, true],
    ["url('https://[::1]:80/a b?x=1').getHostname()", {}, '::1'],
    ["url('https://example.com:80/a?x=1').getHost()", {}, 'example.com:80'],
    ["isURL('no url')", {}, false],
    ["cidr('10.0.0.0/8').containsIP('10.2.3.4')", {}, true],
    ["string(cidr('10.9.9.9/8').masked())", {}, '10.0.0.0/8'],
    ["ip('::1').isLoopback() && ip('10.0.0.1').family() == 4", {}, true],
    ["'a1b22'.findAll('[0-9]+') == ['1', '22']", {}, true],
    ["semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('1.0.0-rc.1')", {}, true],
    ['sets.contains([1, 2, 3], [2]) && sets.intersects([1], [1, 2])', {}, true],
    ['math.greatest(1, 2, 3) == 3', {}, true],
    ["format.dns1123Label().validate('Not_Valid').hasValue()", {}, true],
    ["!format.named('dns1123Label').value().validate('fine').hasValue()", {}, true],
    ["'%s has %d'.format(['a', 2])", {}, 'a has 2'],
    ["object.name.matches('^[a-z]+$') && !object.name.matches('b{2}')", { name: 'abc' }, true],
    ["matches('abc', '(?i)B') && 'a\\nb'.matches('a(?s:.)b')", {}, true],
    ['[1, 2, 3].all(i, v, v == i + 1) && object.list.exists(i, v, i == 1 && v == 5)', { list: [4, 5] }, true],
    ["object.labels.all(k, v, k + 'x' == v)", { labels: { a: 'ax', b: 'bx' } }, true],
    [
      "object.labels.existsOne(k, v, v == 'ax') && !object.labels.exists_one(k, v, k != '')",
      { labels: { a: 'ax', b: 'bx' } },
      true,
    ],
    [
      '[1, 2].transformList(i, v, i * v) == [0, 2] && [1, 2, 3].transformList(i, v, v > 1, v * 2) == [4, 6]',
      {},
      true,
    ],
    ["object.labels.transformMap(k, v, k + v) == {'a': 'ax'}", { labels: { a: 'x' } }, true],
    [
      "object.labels.transformMapEntry(k, v, v != '', {v: k}) == {'x': 'a'}",
      { labels: { a: 'x', b: '' } },
      true,
    ],
    [
      'object.list.all(i, v, v.all(j, w, w == i + j))',
      {
        list: [
          [0, 1],
          [1, 2],
        ],
      },
      true,
    ],
    ['[0, 1].exists(i, v, 1 / v == 1)', {}, true],
    ['[3, 1, 2].sort() == [1, 2, 3] && lists.range(3) == [0, 1, 2]', {}, true],
    ["['bb', 'a'].sortBy(s, s.size()) == ['a', 'bb'] && [1, 1, 2].distinct() == [1, 2]", {}, true],
    ['strings.quote(\'a"b\') == \'"a\\\\"b"\'', {}, true],
    ["semver('v1.2', true).major() == 1 && !isSemver('v1.2')", {}, true],
  ])('%s', (expression, object, expected) => {
    if (expected === undefined) expect(() => evaluate(expression, object)).toThrow('parse error');
    else expect(evaluate(expression, object)).toBe(expected);
  });

  it('refuses what is no CEL, unknown variables and wrong types before anything runs', () => {
    for (const bad of ['object.a +', 'subject.a == 1', "'a'.startsWith(1)"]) {
      expect(() => environment.compile(bad)).toThrow(CelCompileError);
    }
  });

  it("reports a missing key in upstream's words", () => {
    expect(() => evaluate('object.a == 1')).toThrow('no such key: a');
  });

  it('refuses nested loops over long lists, and counts against the budget of the request', () => {
    const object = { list: Array.from({ length: 2000 }, (_, i) => i) };
    expect(evaluate('object.list.all(x, x >= 0)', object)).toBe(true);
    expect(() => evaluate('object.list.all(x, object.list.all(y, x >= 0))', object)).toThrow(costExceeded);
    const budget = { remaining: 10 };
    const program = environment.compile('object.list.all(x, x >= 0)');
    expect(() => program.evaluate({ object: toCelValue(object) }, budget)).toThrow(costExceeded);
  });

  it("has RE2's regular expressions, and refuses literals that are none before anything runs", () => {
    for (const pattern of ['(?=a)', '(a)\\\\1', 'a(', '[[:no:]]']) {
      expect(() => environment.compile(`object.name.matches('${pattern}')`)).toThrow(CelCompileError);
    }
    expect(() => evaluate('object.name.matches(object.pattern)', { name: 'a', pattern: 'a(' })).toThrow(
      'error parsing regexp: missing closing )',
    );
    // Takes years where patterns are tried by going back.
    const name = `${'a'.repeat(200)}b`;
    expect(evaluate("object.name.matches('^(a+)+$')", { name })).toBe(false);
  });

  it('refuses comprehensions with two variables whose predicate is none, and keys that come twice', () => {
    expect(() => environment.compile('[1].all(i, v, v)')).toThrow('predicate must return bool');
    expect(() => environment.compile('1.all(i, v, true)')).toThrow(CelCompileError);
    expect(() => environment.compile('[1].all(1, v, true)')).toThrow('argument must be a simple name');
    expect(() => evaluate("[1, 2].transformMapEntry(i, v, {'k': v})")).toThrow('key k already exists');
    expect(() => evaluate('[1, 0].all(i, v, 1 / v == 1)')).toThrow('zero');
  });

  it('asks the authorizer who is given', async () => {
    const authorizer = new CelAuthorizer(
      {
        authorize: async ({ verb, resource, user }) => ({
          decision: verb === 'get' && resource === 'pods' && user.name === 'ann' ? 'allow' : 'no-opinion',
          reason: '',
        }),
      },
      { name: 'ann', groups: [] },
    );
    const allowed = (verb: string) =>
      evaluate(
        `authorizer.group('').resource('pods').namespace('a').check('${verb}').allowed()`,
        {},
        { authorizer },
      );
    expect(await allowed('get')).toBe(true);
    expect(await allowed('delete')).toBe(false);
    const allowedVerbs = await evaluate(
      "['get', 'delete'].transformList(i, v, authorizer.group('').resource('pods').namespace('a').check(v).allowed())",
      {},
      { authorizer },
    );
    expect(allowedVerbs).toEqual([true, false]);
    const asked = new CelAuthorizer(authorizer.authorizer, authorizer.user, { resource: 'pods' });
    expect(
      await evaluate("authorizer.requestResource.check('get').allowed()", {}, { authorizer: asked }),
    ).toBe(true);
  });

  it.each([
    ['', "ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting"],
    ['Not_Valid!', "ERROR: <input>:1:10: Syntax error: extraneous input '!' expecting <EOF>"],
    ['a b', "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>"],
    ['a b c', "ERROR: <input>:1:3: Syntax error: mismatched input 'b' expecting <EOF>"],
  ])('says in the words of its parser what is wrong with %j', (expression, message) => {
    expect(() => evaluate(expression)).toThrow(message);
  });

  it('does not let an expression reach what JavaScript puts on objects', () => {
    expect(() => evaluate('object.constructor == 1')).toThrow('no such key');
    expect(() => evaluate('object.__proto__ == 1')).toThrow('no such key');
  });
});
