import {
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  Nodes,
  Pods,
  Secrets,
  ServiceAccounts,
  type PolicyRule,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import type { AuthorizationAttributes } from '../contracts';
import { describeRules, uncovered } from './escalation/rule-coverage';
import { ruleAllows } from './policy-rule';

const attributes = (more: Partial<AuthorizationAttributes>): AuthorizationAttributes => ({
  user: { name: 'u', groups: [] },
  verb: 'get',
  isResourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'a',
  path: '',
  ...more,
});

describe('ruleAllows', () => {
  const rule = (more: Partial<PolicyRule>): PolicyRule => ({
    verbs: ['get'],
    apiGroups: [''],
    resources: ['pods'],
    ...more,
  });
  it.each([
    ['its resource', rule({}), {}, true],
    ['no other verb', rule({}), { verb: 'list' }, false],
    ['no other group', rule({}), { apiGroup: 'apps' }, false],
    ['no subresource of its resource', rule({}), { subresource: 'log' }, false],
    ['a subresource by name', rule({ resources: ['pods/log'] }), { subresource: 'log' }, true],
    ['a subresource of all resources', rule({ resources: ['*/log'] }), { subresource: 'log' }, true],
    ['subresources with a star', rule({ resources: ['*'] }), { subresource: 'log' }, true],
    ['only the names it lists', rule({ resourceNames: ['b'] }), {}, false],
    [
      'paths by prefix',
      { verbs: ['get'], nonResourceURLs: ['/healthz/*'] },
      { isResourceRequest: false, path: '/healthz/ping' },
      true,
    ],
    [
      'no path beyond its own',
      { verbs: ['get'], nonResourceURLs: ['/healthz'] },
      { isResourceRequest: false, path: '/healthz/ping' },
      false,
    ],
  ] as const)('allows %s', (_, given, more, expected) => {
    expect(ruleAllows(given as PolicyRule, attributes(more))).toBe(expected);
  });
});

describe('uncovered', () => {
  it('breaks rules down and names only what is missing', () => {
    const owned: PolicyRule[] = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }];
    const wanted: PolicyRule[] = [
      { verbs: ['get', 'create'], apiGroups: [''], resources: ['pods', 'secrets'] },
      { verbs: ['get'], nonResourceURLs: ['/metrics'] },
    ];
    expect(describeRules(uncovered(owned, wanted))).toEqual([
      '{APIGroups:[""], Resources:["pods"], Verbs:["create"]}',
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "create"]}',
      '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    ]);
  });
});

describe('authorization', () => {
  let server: TestApiServer;
  let admin: Client;
  const clients: Client[] = [];
  beforeAll(async () => {
    server = await startApiServer({ flags: ['--enable-admission-plugins=NodeRestriction'] });
    admin = await as('kubernetes-admin', 'system:masters');
    for (const name of ['n1', 'n2']) await admin.for(Nodes).create({ metadata: { name }, spec: {} });
    await admin.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: 'default' });
    for (const name of ['used', 'other']) {
      await admin.for(Secrets).create({ metadata: { name } }, { namespace: 'default' });
    }
    await admin.for(Pods).create(
      {
        metadata: { name: 'p' },
        spec: {
          nodeName: 'n1',
          containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'used' } }] }],
        },
      },
      { namespace: 'default' },
    );
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await server.stop();
  });
  async function as(user: string, ...groups: string[]): Promise<Client> {
    const client = createClient(await server.configFor(user, ...groups));
    clients.push(client);
    return client;
  }
  const refusal = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'allowed',
      (error: Error) => error.message,
    );

  it('lets a kubelet read what its Pods use, and nothing else', async () => {
    const [own, foreign] = [
      await as('system:node:n1', 'system:nodes'),
      await as('system:node:n2', 'system:nodes'),
    ];
    const get = (client: Client, name: string) =>
      refusal(client.for(Secrets).get(name, { namespace: 'default' }));
    expect(await get(own, 'used')).toBe('allowed');
    expect(await get(own, 'other')).toBe(
      `secrets "other" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node 'n1' and this object`,
    );
    expect(await get(foreign, 'used')).toContain("no relationship found between node 'n2' and this object");
    expect(await refusal(own.for(Pods).list({ fieldSelector: 'spec.nodeName=n1' }))).toBe('allowed');
    expect(await refusal(own.for(Pods).list())).toContain(
      'can only list/watch pods with spec.nodeName field selector',
    );
    expect(await refusal(own.for(Nodes).get('n2'))).toContain(
      "node 'n1' cannot read 'n2', only its own Node object",
    );
  });

  it('forgets the relationship with the Pod', async () => {
    const kubelet = await as('system:node:n1', 'system:nodes');
    await admin.for(Pods).create(
      {
        metadata: { name: 'q' },
        spec: {
          nodeName: 'n1',
          containers: [{ name: 'c', image: 'i' }],
          volumes: [{ name: 'v', secret: { secretName: 'other' } }],
        },
      },
      { namespace: 'default' },
    );
    const get = () => refusal(kubelet.for(Secrets).get('other', { namespace: 'default' }));
    expect(await get()).toBe('allowed');
    await admin.for(Pods).delete('q', { namespace: 'default', gracePeriodSeconds: 0 });
    expect(await get()).toContain('no relationship found');
  });

  it('holds a kubelet to its own node, labels and Pods', async () => {
    const kubelet = await as('system:node:n1', 'system:nodes');
    const node = (patch: object) => refusal(kubelet.for(Nodes).patch('n1', patch, { type: 'merge' }));
    expect(await node({ metadata: { labels: { 'example.com/rack': '7' } } })).toBe('allowed');
    expect(await node({ metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } })).toBe(
      'nodes "n1" is forbidden: is not allowed to modify labels: node-role.kubernetes.io/control-plane',
    );
    expect(await node({ spec: { taints: [] } })).toBe(
      'nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
    );
    expect(
      await refusal(
        kubelet
          .for(Pods)
          .create(
            { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
            { namespace: 'default' },
          ),
      ),
    ).toContain('node "n1" can only create mirror pods');
  });

  it('decides by roles as they are now', async () => {
    const dev = await as('dev');
    const list = () => refusal(dev.for(ConfigMaps).list());
    expect(await list()).toContain(
      'User "dev" cannot list resource "configmaps" in API group "" at the cluster scope',
    );
    await admin.for(ClusterRoles).create({
      metadata: { name: 'reader' },
      rules: [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }],
    });
    await admin.for(ClusterRoleBindings).create({
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'dev' }],
    });
    expect(await list()).toBe('allowed');
    await admin.for(ClusterRoleBindings).delete('reader');
    expect(await list()).toContain('cannot list');
  });

  it('lets nobody grant or bind what he does not hold', async () => {
    const editor = await as('editor');
    await admin.for(ClusterRoles).create({
      metadata: { name: 'role-editor' },
      rules: [
        {
          verbs: ['create', 'update'],
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles', 'clusterrolebindings'],
        },
      ],
    });
    await admin.for(ClusterRoleBindings).create({
      metadata: { name: 'role-editor' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'role-editor' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'editor' }],
    });
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
    expect(await refusal(editor.for(ClusterRoles).create({ metadata: { name: 'more' }, rules }))).toBe(
      'clusterroles.rbac.authorization.k8s.io "more" is forbidden: user "editor" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    );
    const own = [
      { verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] },
    ];
    expect(await refusal(editor.for(ClusterRoles).create({ metadata: { name: 'same' }, rules: own }))).toBe(
      'allowed',
    );
    const bind = editor.for(ClusterRoleBindings).create({
      metadata: { name: 'root' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    });
    expect(await refusal(bind)).toContain('{NonResourceURLs:["*"], Verbs:["*"]}');
  });
});
