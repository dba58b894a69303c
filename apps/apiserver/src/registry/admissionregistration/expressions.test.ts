import { validateExpression, type Scope } from './expressions';

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
