import type { ServedResource } from '../registry/generic/served-resource';
import { pathsOf } from './paths';

const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

const served = (group: string, kind: string, more: object = {}): ServedResource =>
  ({
    descriptor: { group, version: 'v1', kind, resource: `${kind.toLowerCase()}s`, namespaced: true },
    verbs: new Set(all),
    subresources: new Map(),
    codec: { schemaName: `io.k8s.api.test.v1.${kind}` },
    strategy: {},
    custom: false,
    ...more,
  }) as unknown as ServedResource;

const sub = (name: string, kind: string, verbs: string[]) =>
  [name, { name, kind, group: '', version: 'v1', verbs }] as const;

describe('pathsOf', () => {
  const role = pathsOf(served('rbac.authorization.k8s.io', 'Role'));
  const base = '/apis/rbac.authorization.k8s.io/v1';
  const item = role[`${base}/namespaces/{namespace}/roles/{name}`];

  it('names operations by all of the group but its k8s.io', () => {
    expect(item?.get).toMatchObject({
      operationId: 'readRbacAuthorizationV1NamespacedRole',
      tag: 'rbacAuthorization_v1',
      description: 'read the specified Role',
    });
    expect(role[`${base}/roles`]?.get?.operationId).toBe('listRbacAuthorizationV1RoleForAllNamespaces');
  });

  it.each([
    ['post', [200, 201, 202], 'create a Role'],
    ['delete', [200], 'delete collection of Role'],
    ['get', [200], 'list or watch objects of kind Role'],
  ])('says what %s on the collection answers', (method, codes, description) => {
    expect(role[`${base}/namespaces/{namespace}/roles`]?.[method]).toMatchObject({ codes, description });
  });

  it('tells that a kind answers a deletion with the object', () => {
    const paths = pathsOf(served('', 'Pod', { strategy: { returnDeletedObject: true } }));
    const operation = paths['/api/v1/namespaces/{namespace}/pods/{name}']?.delete;
    expect(operation).toMatchObject({ answer: 'io.k8s.api.test.v1.Pod', codes: [200, 202] });
    expect(item?.delete?.answer).toBe('io.k8s.apimachinery.pkg.apis.meta.v1.Status');
  });

  it('knows no protobuf, strategic merge or watch of custom kinds', () => {
    const paths = pathsOf(served('stable.example.com', 'Thing', { custom: true, codec: {} }));
    const path = '/apis/stable.example.com/v1/namespaces/{namespace}/things';
    expect(paths[path]?.get).toMatchObject({
      operationId: 'listStableExampleComV1NamespacedThing',
      description: 'list objects of kind Thing',
      produces: ['application/json', 'application/yaml'],
    });
    expect(paths[`${path}/{name}`]?.patch?.consumes).not.toContain('application/strategic-merge-patch+json');
  });

  it('connects to what is behind a Pod, with any method where that is a proxy', () => {
    const subresources = new Map([
      sub('exec', 'PodExecOptions', ['get', 'create']),
      sub('proxy', 'PodProxyOptions', ['get', 'create']),
      sub('log', 'Pod', ['get']),
    ]);
    const paths = pathsOf(served('', 'Pod', { subresources }));
    const pod = '/api/v1/namespaces/{namespace}/pods/{name}';
    expect(Object.keys(paths[`${pod}/exec`] ?? {})).toEqual(['get', 'post']);
    expect(paths[`${pod}/exec`]?.get).toMatchObject({
      operationId: 'connectCoreV1GetNamespacedPodExec',
      target: { action: 'connect', kind: { kind: 'PodExecOptions' } },
    });
    expect(paths[`${pod}/proxy/{path}`]?.head?.operationId).toBe(
      'connectCoreV1HeadNamespacedPodProxyWithPath',
    );
    expect(paths[`${pod}/log`]?.get?.answer).toBeUndefined();
    expect(paths[`${pod}/log`]?.get?.produces).toContain('text/plain');
  });
});
