import type { AuthorizationAttributes, Authorizer } from '../contracts';
import { ImpersonationModes, type WantedUser } from './impersonation-modes';

const requestor = { name: 'system:serviceaccount:a:agent', groups: [], extra: {} };
const attributes: AuthorizationAttributes = {
  user: requestor,
  verb: 'list',
  isResourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: '',
  path: '',
};
const wanted = (name: string, more: Partial<WantedUser> = {}): WantedUser => ({
  name,
  uid: '',
  groups: [],
  extra: {},
  ...more,
});
/** Allows what is listed as `verb resource name`. */
const allowing = (...allowed: string[]): Authorizer => ({
  name: 'test',
  authorize: ({ verb, resource, name }) => ({
    decision: allowed.includes(`${verb} ${resource} ${name}`.trim()) ? 'allow' : 'no-opinion',
    reason: '',
  }),
});

describe('ImpersonationModes', () => {
  it('lets users be others for what the request does', async () => {
    const modes = new ImpersonationModes(
      allowing('impersonate-on:user-info:list pods', 'impersonate:user-info users carl'),
    );
    await expect(modes.become(wanted('carl'), requestor, attributes)).resolves.toEqual({
      name: 'carl',
      groups: ['system:authenticated'],
      extra: {},
    });
    await expect(modes.become(wanted('carl'), requestor, { ...attributes, verb: 'delete' })).rejects.toThrow(
      'cannot impersonate-on:user-info:delete resource "pods"',
    );
  });

  it('still lets users be others whatever they do, and then tells what that way lacks', async () => {
    const modes = new ImpersonationModes(allowing('impersonate users amy'));
    await modes.become(wanted('amy'), requestor, attributes);
    await expect(modes.become(wanted('bea'), requestor, attributes)).rejects.toThrow(
      'users "bea" is forbidden: User "system:serviceaccount:a:agent" cannot impersonate resource "users"',
    );
  });

  it('makes nobody a node by the way of users', async () => {
    const modes = new ImpersonationModes(
      allowing('impersonate-on:arbitrary-node:list pods', 'impersonate:arbitrary-node nodes n1'),
    );
    const user = await modes.become(wanted('system:node:n1'), requestor, attributes);
    expect(user.groups).toEqual(['system:nodes', 'system:authenticated']);
  });
});
