import { typeOfExpression, validateExpression, type Scope } from './expressions';

const bool = { types: ['bool'] };

describe('validateExpression', () => {
  test.each([
    ["authorizer.requestResource.check('get').allowed()"],
    ["authorizer.group('apps').resource('deployments').namespace('x').check('get').allowed()"],
    ["request.userInfo.username == 'x' && !('a' in request.userInfo.groups)"],
    ['object.spec.replicas <= 5 && has(object.metadata.labels)'],
    ['size(object.spec.?list.orValue([])) > 0'],
  ])('takes %s', (expression) => {
    expect(validateExpression(expression, 'path', {}, bool)).toEqual([]);
  });

  test.each<[string, Scope, string]>([
    ['1', {}, 'must evaluate to bool but got int'],
    ['params.x == 1', {}, "undeclared reference to 'params'"],
    ['variables.x == 1', {}, "undeclared reference to 'variables'"],
    ['variables.x == 1', { variables: {} }, "undefined field 'x'"],
    ['authorizer == null', { hasAuthorizer: false }, "undeclared reference to 'authorizer'"],
  ])('refuses %s', (expression, scope, message) => {
    const [error] = validateExpression(expression, 'path', scope, bool);
    expect(error?.message).toContain(message);
  });
});

describe('what an admission policy speaks of', () => {
  test.each([
    [
      'request.kind == 1',
      "found no matching overload for '_==_' applied to '(kubernetes.GroupVersionKind, int)'",
    ],
    ['request.foo', "undefined field 'foo'"],
    ['request.userInfo.extra == 1', "applied to '(map(string, list(string)), int)'"],
    ['namespaceObject.metadata.uid == ""', "undefined field 'uid'"],
    ['namespaceObject.status.conditions == 1', "applied to '(list(kubernetes.NamespaceCondition), int)'"],
    ['Object{} == null', "undeclared reference to 'Object'"],
  ])('has types: %s is refused', (expression, message) => {
    const [error] = validateExpression(expression, 'path', {}, bool);
    expect(error?.message).toContain(message);
  });

  it('keeps the types of variables, with their fields', () => {
    const variables = { user: typeOfExpression('request.userInfo', {}) };
    expect(validateExpression('variables.user.username == "a"', 'path', { variables }, bool)).toEqual([]);
    const [error] = validateExpression('variables.user.nope == "a"', 'path', { variables }, bool);
    expect(error?.message).toContain("undefined field 'nope'");
  });
});

describe('what a mutation is written in', () => {
  const object = { types: ['Object'], isExact: true };
  const patch = { types: ['list(JSONPatch)'], isExact: true };

  test.each([
    ['Object{metadata: Object.metadata{labels: {"a": "b"}}}', object],
    ['Object{?metadata: optional.of(Object.metadata{})}', object],
    ['true ? Object{} : Object{foo: 1}', object],
    ['[JSONPatch{op: "add", path: "/a", value: Object.spec{a: 1}}]', patch],
    ['object.x.map(k, JSONPatch{op: "add", path: "/" + jsonpatch.escapeKey(k)})', patch],
    ['[?optional.of(JSONPatch{?op: optional.of("add")})]', patch],
  ])('takes %s', (expression, expected) => {
    expect(validateExpression(expression, 'path', { isMutation: true }, expected)).toEqual([]);
  });

  test.each([
    ['object', object, 'must evaluate to Object but got dyn'],
    ['Object.metadata{}', object, 'must evaluate to Object but got Object.metadata'],
    ['Object.metadata{}.labels', object, 'must evaluate to Object but got dyn'],
    ['Foo{}', object, "<input>:1:4: undeclared reference to 'Foo'"],
    [
      'Object{?metadata: Object.metadata{}}',
      object,
      "<input>:1:34: expected type 'optional_type(Object.metadata)' but found 'Object.metadata'",
    ],
    ['[]', patch, 'must evaluate to list(JSONPatch) but got list(dyn)'],
    [
      '[JSONPatch{op: 1, path: "/a"}]',
      patch,
      "<input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'",
    ],
    [
      '[JSONPatch{op: "add", foo: "/a"}]',
      patch,
      "<input>:1:26: expected type of field 'foo' is '' but provided type is 'string'",
    ],
    ['jsonpatch.escapeKey(1)', patch, "no matching overload for 'jsonpatch.escapeKey' applied to '(int)'"],
  ])('refuses %s', (expression, expected, message) => {
    const [error] = validateExpression(expression, 'path', { isMutation: true }, expected);
    expect(error?.message).toContain(message);
  });
});
