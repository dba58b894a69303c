import {
  ConfigMaps,
  CustomResourceDefinitions,
  MutatingAdmissionPolicies,
  MutatingAdmissionPolicyBindings,
  Pods,
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { AdmissionFixture, outcome, rule } from '../testing/admission-fixture';

describe('admission policies', () => {
  let server: TestApiServer;
  let client: Client;
  let fixture: AdmissionFixture;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
    fixture = new AdmissionFixture(client);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  it('validate with parameters, variables and messages', async () => {
    const namespace = await fixture.newNamespace('policies', { policed: 'yes' });
    await fixture.createConfigMap(namespace, 'limits', { max: '1' });
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
    expect(await outcome(fixture.createConfigMap(namespace, 'big', { a: '1', b: '2' }))).toBe(
      `configmaps "big" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'small' denied request: 2 keys in policies`,
    );
    expect(await outcome(fixture.createConfigMap(namespace, 'free', { a: '1', b: '2' }))).toBe('admitted');
    expect(
      await outcome(fixture.createConfigMap(await fixture.newNamespace('free'), 'big', { a: '1', b: '2' })),
    ).toBe('admitted');
    await client.for(ConfigMaps).delete('limits', { namespace });
    expect(await outcome(fixture.createConfigMap(namespace, 'small', {}))).toContain(
      'failed to configure binding: no params found for policy binding',
    );
    await client.for(ValidatingAdmissionPolicyBindings).delete('small');
  });

  it('change objects with apply configurations and JSON patches', async () => {
    const namespace = await fixture.newNamespace('mutated');
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
    const created = await fixture.createConfigMap(namespace, 'a', { x: '1' });
    expect(created.metadata.labels).toEqual({ team: 'mutated', 'a/b': 'c' });
    expect(created.data).toEqual({ x: '1' });
    await client.for(MutatingAdmissionPolicyBindings).delete('team');
  });

  it('merge apply configurations as server-side apply does: lists by their keys', async () => {
    const namespace = await fixture.newNamespace('merged');
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

  it('merge apply configurations into custom resources, and refuse those that set atomic fields', async () => {
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
});
