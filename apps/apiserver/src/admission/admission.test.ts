import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  ConfigMaps,
  CustomResourceDefinitions,
  MutatingAdmissionPolicies,
  MutatingAdmissionPolicyBindings,
  MutatingWebhookConfigurations,
  Namespaces,
  Pods,
  ResourceQuotas,
  ServiceAccounts,
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
  ValidatingWebhookConfigurations,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { issueCertificate } from '@tinkernetes/pki';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

describe('admission', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  async function newNamespace(name: string, labels: Record<string, string> = {}): Promise<string> {
    await client.for(Namespaces).create({ metadata: { name, labels }, spec: {} });
    await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: name });
    return name;
  }
  const outcome = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'admitted',
      (error: Error) => error.message,
    );
  const pod = (name: string, resources: object = {}) => ({
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'i', resources }] },
  });
  const rule = (operations: ('CREATE' | 'UPDATE')[], resources: string[]) => ({
    operations,
    apiGroups: [''],
    apiVersions: ['v1'],
    resources,
  });
  const createConfigMap = (namespace: string, name: string, data: Record<string, string> = {}) =>
    client.for(ConfigMaps).create({ metadata: { name }, data }, { namespace });

  it('C19: admits exactly as many of parallel Pods as the quota allows', async () => {
    const namespace = await newNamespace('quota');
    await client
      .for(ResourceQuotas)
      .create({ metadata: { name: 'q' }, spec: { hard: { pods: '3' } } }, { namespace });
    expect(await outcome(client.for(Pods).create(pod('early'), { namespace }))).toBe('admitted');
    await server.stores.for(ResourceQuotas).modify('q', namespace, (quota) => ({
      ...quota,
      status: { hard: { pods: '3' }, used: { pods: '0' } },
    }));
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) => outcome(client.for(Pods).create(pod(`p${i}`), { namespace }))),
    );
    expect(outcomes.filter((text) => text === 'admitted')).toHaveLength(3);
    const refused = outcomes.find((text) => text !== 'admitted');
    expect(refused).toMatch(
      /^pods "p\d" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3$/,
    );
  });

  it('C19: wants every container to state what a quota limits', async () => {
    const namespace = await newNamespace('stated');
    await client
      .for(ResourceQuotas)
      .create({ metadata: { name: 'q' }, spec: { hard: { 'requests.cpu': '1' } } }, { namespace });
    await server.stores.for(ResourceQuotas).modify('q', namespace, (quota) => ({
      ...quota,
      status: { hard: { 'requests.cpu': '1' }, used: { 'requests.cpu': '0' } },
    }));
    expect(await outcome(client.for(Pods).create(pod('a'), { namespace }))).toBe(
      'pods "a" is forbidden: failed quota: q: must specify requests.cpu for: main',
    );
    expect(
      await outcome(client.for(Pods).create(pod('b', { requests: { cpu: '600m' } }), { namespace })),
    ).toBe('admitted');
    expect(
      await outcome(client.for(Pods).create(pod('c', { requests: { cpu: '600m' } }), { namespace })),
    ).toBe(
      'pods "c" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
  });

  it('creates nothing in a namespace that is missing or going, and keeps the first ones', async () => {
    expect(await outcome(createConfigMap('nowhere', 'a'))).toBe('namespaces "nowhere" not found');
    expect(await outcome(client.for(Namespaces).delete('kube-system'))).toBe(
      'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    );
    await newNamespace('going');
    await client.for(Namespaces).delete('going');
    expect(await outcome(createConfigMap('going', 'a'))).toBe(
      'configmaps "a" is forbidden: unable to create new content in namespace going because it is being terminated',
    );
  });

  it('waits a moment for the default account of a new namespace', async () => {
    await client.for(Namespaces).create({ metadata: { name: 'young' }, spec: {} });
    const creating = outcome(client.for(Pods).create(pod('a'), { namespace: 'young' }));
    await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: 'young' });
    expect(await creating).toBe('admitted');
    expect(
      await outcome(
        client
          .for(Pods)
          .create(
            { ...pod('b'), spec: { ...pod('b').spec, serviceAccountName: 'x' } },
            { namespace: 'young' },
          ),
      ),
    ).toBe('pods "b" is forbidden: error looking up service account young/x: serviceaccount "x" not found');
  });

  it('knows what has no name yet by its generateName', async () => {
    const namespace = await newNamespace('unnamed');
    const spec = { containers: [{ name: 'c', image: 'i' }], priorityClassName: 'none' };
    const create = client.for(Pods).create({ metadata: { generateName: 'web-' }, spec }, { namespace });
    expect(await outcome(create)).toBe('pods "web-" is forbidden: no PriorityClass with name none was found');
  });

  it('validates by policies with parameters, variables and messages', async () => {
    const namespace = await newNamespace('policies', { policed: 'yes' });
    await createConfigMap(namespace, 'limits', { max: '1' });
    await client.for(ValidatingAdmissionPolicies).create({
      metadata: { name: 'small' },
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: { resourceRules: [rule(['CREATE'], ['configmaps'])] },
        matchConditions: [{ name: 'not-mine', expression: "!object.metadata.name.startsWith('free')" }],
        variables: [{ name: 'count', expression: 'has(object.data) ? size(object.data) : 0' }],
        validations: [
          {
            expression: 'variables.count <= int(params.data.max)',
            messageExpression: "string(variables.count) + ' keys in ' + namespaceObject.metadata.name",
          },
        ],
      },
    });
    await client.for(ValidatingAdmissionPolicyBindings).create({
      metadata: { name: 'small' },
      spec: {
        policyName: 'small',
        validationActions: ['Deny'],
        paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' },
        matchResources: { namespaceSelector: { matchLabels: { policed: 'yes' } } },
      },
    });
    expect(await outcome(createConfigMap(namespace, 'big', { a: '1', b: '2' }))).toBe(
      `configmaps "big" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'small' denied request: 2 keys in policies`,
    );
    expect(await outcome(createConfigMap(namespace, 'free', { a: '1', b: '2' }))).toBe('admitted');
    expect(await outcome(createConfigMap(await newNamespace('free'), 'big', { a: '1', b: '2' }))).toBe(
      'admitted',
    );
    await client.for(ConfigMaps).delete('limits', { namespace });
    expect(await outcome(createConfigMap(namespace, 'small', {}))).toContain(
      'failed to configure binding: no params found for policy binding',
    );
    await client.for(ValidatingAdmissionPolicyBindings).delete('small');
  });

  it('changes objects by policies, with apply configurations and JSON patches', async () => {
    const namespace = await newNamespace('mutated');
    await client.for(MutatingAdmissionPolicies).create({
      metadata: { name: 'team' },
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: { resourceRules: [rule(['CREATE'], ['configmaps', 'pods'])] },
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: {
              expression: "Object{metadata: Object.metadata{labels: {'team': request.namespace}}}",
            },
          },
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression:
                "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]",
            },
          },
        ],
      },
    });
    await client.for(MutatingAdmissionPolicyBindings).create({
      metadata: { name: 'team' },
      spec: {
        policyName: 'team',
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'mutated' } } },
      },
    });
    const created = await createConfigMap(namespace, 'a', { x: '1' });
    expect(created.metadata.labels).toEqual({ team: 'mutated', 'a/b': 'c' });
    expect(created.data).toEqual({ x: '1' });
    await client.for(MutatingAdmissionPolicyBindings).delete('team');
  });

  it('merges apply configurations as server-side apply does: lists by their keys', async () => {
    const namespace = await newNamespace('merged');
    await client.for(MutatingAdmissionPolicies).create({
      metadata: { name: 'merged' },
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: { resourceRules: [rule(['CREATE'], ['pods'])] },
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: {
              expression:
                "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'b', env: [Object.spec.containers.env{name: 'X', value: '2'}]}]}}",
            },
          },
        ],
      },
    });
    await client.for(MutatingAdmissionPolicyBindings).create({
      metadata: { name: 'merged' },
      spec: {
        policyName: 'merged',
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'merged' } } },
      },
    });
    const env = [
      { name: 'W', value: '1' },
      { name: 'X', value: '1' },
    ];
    const pod = await client.for(Pods).create({
      metadata: { name: 'p', namespace },
      spec: {
        automountServiceAccountToken: false,
        containers: [
          { name: 'a', image: 'i' },
          { name: 'b', image: 'i', env },
        ],
      },
    });
    expect(pod.spec.containers).toMatchObject([
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i', env: [env[0], { name: 'X', value: '2' }] },
    ]);
    await client.for(MutatingAdmissionPolicyBindings).delete('merged');
  });

  it('merges apply configurations into custom resources, and refuses those that set atomic fields', async () => {
    const list = (more: object) => ({
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, size: { type: 'integer' } },
        required: ['name'],
      },
      ...more,
    });
    const properties = {
      keyed: list({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
      whole: list({}),
      fixed: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: { a: { type: 'string' } },
      },
    };
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
    await client.for(CustomResourceDefinitions).create({
      metadata: { name: 'shelves.store.test' },
      spec: {
        group: 'store.test',
        scope: 'Cluster',
        names: { plural: 'shelves', kind: 'Shelf' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    });
    const shelves = {
      group: 'store.test',
      version: 'v1',
      resource: 'shelves',
      kind: 'Shelf',
      namespaced: false,
    };
    const create = (name: string, spec: object) =>
      client.for(shelves).create({ metadata: { name }, spec } as never);
    await eventually(() => create('first', {}));
    const policies = client.for(MutatingAdmissionPolicies);
    const mutateBy = (name: string, expression: string) => ({
      metadata: { name },
      spec: {
        reinvocationPolicy: 'Never' as const,
        matchConstraints: {
          resourceRules: [
            {
              operations: ['CREATE' as const],
              apiGroups: ['store.test'],
              apiVersions: ['v1'],
              resources: ['shelves'],
            },
          ],
        },
        matchConditions: [{ name: 'named', expression: `object.metadata.name == '${name}'` }],
        mutations: [{ patchType: 'ApplyConfiguration' as const, applyConfiguration: { expression } }],
      },
    });
    const bindings = client.for(MutatingAdmissionPolicyBindings);
    const expressions = {
      'shelf-merged': "Object{spec: Object.spec{keyed: [Object.spec.keyed{name: 'b', size: 2}]}}",
      'shelf-refused':
        "Object{spec: Object.spec{whole: [Object.spec.whole{name: 'b'}], fixed: Object.spec.fixed{a: 'x'}}}",
    };
    for (const [name, expression] of Object.entries(expressions)) {
      await policies.create(mutateBy(name, expression));
      await bindings.create({ metadata: { name }, spec: { policyName: name } });
    }
    const keyed = [
      { name: 'a', size: 1 },
      { name: 'b', size: 1 },
    ];
    try {
      expect(await create('shelf-merged', { keyed })).toMatchObject({
        spec: { keyed: [keyed[0], { name: 'b', size: 2 }] },
      });
      expect(await outcome(create('shelf-refused', {}))).toBe(
        `shelves.store.test "shelf-refused" is forbidden: policy 'shelf-refused' with binding 'shelf-refused' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.whole, .spec.fixed`,
      );
    } finally {
      for (const name of Object.keys(expressions)) await bindings.delete(name);
    }
  });

  describe('webhooks', () => {
    let webhook: Server;
    let url: string;
    const seen: { operation: string; name: string; userInfo: { username: string } }[] = [];
    let caBundle: string;

    beforeAll(async () => {
      const pair = await issueCertificate(server.ca, {
        commonName: 'webhook',
        ipAddresses: ['127.0.0.1'],
        usages: ['serverAuth'],
        now: Date.now(),
      });
      caBundle = Buffer.from(server.ca.certificate).toString('base64');
      webhook = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
            request: { uid: string; operation: string; name: string; userInfo: { username: string } };
          };
          seen.push(review.request);
          const { uid } = review.request;
          const patch = Buffer.from('[{"op":"add","path":"/data/added","value":"yes"}]').toString('base64');
          const answer = request.url?.startsWith('/deny')
            ? { uid, allowed: false, status: { code: 418, message: 'not today' } }
            : { uid, allowed: true, patchType: 'JSONPatch', patch, warnings: ['be careful'] };
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(
            JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: answer }),
          );
        });
      });
      await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', () => resolve()));
      url = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
    });
    afterAll(() => {
      webhook.close();
      webhook.closeAllConnections();
    });

    const configuration = (
      namespace: string,
      more: { path: string; failurePolicy?: 'Fail' | 'Ignore'; url?: string },
    ) => ({
      metadata: { name: namespace },
      webhooks: [
        {
          name: `${namespace}.example.com`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None' as const,
          failurePolicy: more.failurePolicy ?? ('Fail' as const),
          clientConfig: { url: `${more.url ?? url}${more.path}`, caBundle },
          rules: [rule(['CREATE'], ['configmaps'])],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          matchConditions: [{ name: 'n', expression: "object.metadata.name != 'skipped'" }],
        },
      ],
    });

    it('apply the patches of those that admit', async () => {
      const namespace = await newNamespace('patched');
      await client.for(MutatingWebhookConfigurations).create(configuration(namespace, { path: '/patch' }));
      expect((await createConfigMap(namespace, 'a', { x: '1' })).data).toEqual({ x: '1', added: 'yes' });
      expect((await createConfigMap(namespace, 'skipped', { x: '1' })).data).toEqual({ x: '1' });
      expect(seen[seen.length - 1]).toMatchObject({
        operation: 'CREATE',
        name: 'a',
        userInfo: { username: 'kubernetes-admin' },
      });
    });

    it('refuse in the words of those that deny', async () => {
      const namespace = await newNamespace('denied');
      await client.for(ValidatingWebhookConfigurations).create(configuration(namespace, { path: '/deny' }));
      expect(await outcome(createConfigMap(namespace, 'a'))).toBe(
        'admission webhook "denied.example.com" denied the request: not today',
      );
    });

    it('fail or are ignored when nobody answers, as their failure policy says', async () => {
      const nobody = 'https://127.0.0.1:1';
      const strict = await newNamespace('strict');
      await client
        .for(ValidatingWebhookConfigurations)
        .create(configuration(strict, { path: '/', url: nobody }));
      expect(await outcome(createConfigMap(strict, 'a'))).toMatch(
        /^Internal error occurred: failed calling webhook "strict.example.com": failed to call webhook: Post "https:\/\/127.0.0.1:1\/\?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused$/,
      );
      const lax = await newNamespace('lax');
      await client
        .for(ValidatingWebhookConfigurations)
        .create(configuration(lax, { path: '/', url: nobody, failurePolicy: 'Ignore' }));
      expect(await outcome(createConfigMap(lax, 'a'))).toBe('admitted');
    });

    it('name the Service that is not there', async () => {
      const namespace = await newNamespace('serviceless');
      const [webhook] = configuration(namespace, { path: '/' }).webhooks;
      await client.for(ValidatingWebhookConfigurations).create({
        metadata: { name: namespace },
        webhooks: [
          {
            name: 'w.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            rules: webhook?.rules,
            namespaceSelector: webhook?.namespaceSelector,
            clientConfig: { service: { namespace, name: 'hook', path: '/check' }, caBundle },
          },
        ],
      });
      expect(await outcome(createConfigMap(namespace, 'a'))).toBe(
        'Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://hook.serviceless.svc:443/check?timeout=10s": service "hook" not found',
      );
    });
  });
});
