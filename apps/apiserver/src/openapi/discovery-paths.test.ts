import type { ResourceTable } from '../registry/generic/resource-table';
import { serverPaths, versionPaths } from './discovery-paths';

const resource = (group: string, custom = false) => ({ custom, descriptor: { group, version: 'v1' } });
const table = {
  all: () => [resource(''), resource('rbac.authorization.k8s.io'), resource('example.com', true)],
} as unknown as ResourceTable;

describe('serverPaths', () => {
  it('has a document for each built-in group, and for what is the same on every server', () => {
    expect([...serverPaths(table).keys()]).toEqual([
      '.well-known/openid-configuration',
      'api',
      'apis',
      'apis/rbac.authorization.k8s.io',
      'openid/v1/jwks',
      'version',
    ]);
  });

  it('names a group as its operations do', () => {
    const document = serverPaths(table).get('apis/rbac.authorization.k8s.io');
    expect(document?.['/apis/rbac.authorization.k8s.io/']?.get).toMatchObject({
      operationId: 'getRbacAuthorizationAPIGroup',
      tag: 'rbacAuthorization',
    });
  });
});

describe('versionPaths', () => {
  it('tells where built-in versions list their resources', () => {
    const paths = versionPaths(table);
    expect([...paths.keys()]).toEqual(['/api/v1/', '/apis/rbac.authorization.k8s.io/v1/']);
    expect(paths.get('/api/v1/')?.['/api/v1/']?.get).toMatchObject({
      operationId: 'getCoreV1APIResources',
      tag: 'core_v1',
    });
  });
});
