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
    ["url('https://[::1]:80/a b?x=1').getHostname()", {}, undefined],
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
    const asked = new CelAuthorizer(authorizer.authorizer, authorizer.user, { resource: 'pods' });
    expect(
      await evaluate("authorizer.requestResource.check('get').allowed()", {}, { authorizer: asked }),
    ).toBe(true);
  });

  it('does not let an expression reach what JavaScript puts on objects', () => {
    expect(() => evaluate('object.constructor == 1')).toThrow('no such key');
    expect(() => evaluate('object.__proto__ == 1')).toThrow('no such key');
  });
});
