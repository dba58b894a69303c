import { APIServices, CustomResourceDefinitions, type ValidatingAdmissionPolicy } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { expressionWarnings } from './type-checking';

describe('the expressions of a ValidatingAdmissionPolicy', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
    await client.for(CustomResourceDefinitions).create({
      metadata: { name: 'lamps.light.test' },
      spec: {
        group: 'light.test',
        scope: 'Namespaced',
        names: { plural: 'lamps', kind: 'Lamp' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { watts: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    });
    await eventually(() => client.request({ method: 'GET', path: '/apis/light.test/v1' }));
  });
  afterAll(async () => {
    client?.close();
    await server?.stop();
  });

  const warningsOf = (
    resourceRules: { apiGroups: string[]; apiVersions: string[]; resources: string[] }[],
    spec: Partial<ValidatingAdmissionPolicy['spec']>,
  ) =>
    expressionWarnings(
      client,
      {
        metadata: { name: 'p' },
        spec: {
          ...spec,
          matchConstraints: {
            resourceRules: resourceRules.map((r) => ({ ...r, operations: ['*' as const] })),
          },
        },
      },
      new AbortController().signal,
    );
  const deployments = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
  const lamps = { apiGroups: ['light.test'], apiVersions: ['v1'], resources: ['lamps', 'lamps/status'] };

  it('are checked against the schema of each kind that it names', async () => {
    const validations = [
      { expression: 'object.spec.replicas <= 5 && object.metadata.name != ""' },
      { expression: 'object.replicas <= 5', messageExpression: 'object.metadata.name + 1' },
    ];
    expect(await warningsOf([deployments], { validations })).toEqual([
      {
        fieldRef: 'spec.validations[1].expression',
        warning:
          "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas <= 5\n | ......^\n",
      },
      {
        fieldRef: 'spec.validations[1].messageExpression',
        warning: expect.stringContaining("'_+_' applied to '(string, int)'") as string,
      },
    ]);
  });

  it('know variables, parameters, the request and the namespace', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'limit', expression: 'int(params.data["limit"])' }],
    };
    const fine =
      'object.spec.watts < variables.limit && request.userInfo.username != "" && namespaceObject.metadata.name == ""';
    const wrong = 'variables.limit == "" || request.nope';
    const validations = [{ expression: fine }, { expression: wrong }];
    expect(await warningsOf([lamps], { ...spec, validations })).toEqual([
      {
        fieldRef: 'spec.validations[1].expression',
        warning: expect.stringMatching(/^light\.test\/v1, Kind=Lamp: ERROR: <input>:1:17: /) as string,
      },
    ]);
  });

  it('are checked against the other kinds where a server that one is of does not answer', async () => {
    await client.for(APIServices).create({
      metadata: { name: 'v1.down.test' },
      spec: {
        group: 'down.test',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: 'default', name: 'nobody' },
      },
    });
    await eventually(() =>
      expect(client.request({ method: 'GET', path: '/apis/down.test/v1' })).rejects.toMatchObject({
        reason: 'ServiceUnavailable',
      }),
    );
    const down = { apiGroups: ['down.test'], apiVersions: ['v1'], resources: ['lamps'] };
    const spec = {
      paramKind: { apiVersion: 'down.test/v1', kind: 'Lamp' },
      validations: [{ expression: 'object.nope' }],
    };
    expect(await warningsOf([down, deployments], spec)).toHaveLength(1);
  });

  it.each([
    { ...deployments, apiGroups: ['*'] },
    { ...deployments, apiVersions: ['*'] },
    { ...deployments, resources: ['*', 'deployments/scale'] },
    { ...deployments, apiGroups: ['none.test'] },
  ])('are left alone where no kind is named: %j', async (rule) => {
    expect(await warningsOf([rule], { validations: [{ expression: 'object.nope' }] })).toEqual([]);
  });
});
