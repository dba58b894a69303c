import { FlowSchemas, PriorityLevelConfigurations, type FlowSchema } from '@tinkernetes/api';
import { createClient, type Client, type ClientConfig } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import * as https from 'node:https';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { parseRequestInfo } from '../server/request-info';
import { matches } from './classification';

describe('a FlowSchema', () => {
  const schema = (rule: object): FlowSchema => ({
    metadata: { name: 's' },
    spec: { priorityLevelConfiguration: { name: 'p' }, rules: [rule as never] },
  });
  const everything = {
    verbs: ['*'],
    apiGroups: ['*'],
    resources: ['*'],
    clusterScope: true,
    namespaces: ['*'],
  };
  const jane = { name: 'jane', groups: ['devs'] };
  const bot = { name: 'system:serviceaccount:ci:bot', groups: [] };
  const group = (name: string) => ({ kind: 'Group', group: { name } });
  const user = (name: string) => ({ kind: 'User', user: { name } });
  const account = (namespace: string, name: string) => ({
    kind: 'ServiceAccount',
    serviceAccount: { namespace, name },
  });
  it.each([
    ['its user', { subjects: [user('jane')], resourceRules: [everything] }, jane, '/api/v1/nodes', true],
    ['any user', { subjects: [user('*')], resourceRules: [everything] }, bot, '/api/v1/nodes', true],
    ['no other user', { subjects: [user('joe')], resourceRules: [everything] }, jane, '/api/v1/nodes', false],
    ['its group', { subjects: [group('devs')], resourceRules: [everything] }, jane, '/api/v1/nodes', true],
    [
      'its service account',
      { subjects: [account('ci', 'bot')], resourceRules: [everything] },
      bot,
      '/api/v1/nodes',
      true,
    ],
    [
      'all accounts of a namespace',
      { subjects: [account('ci', '*')], resourceRules: [everything] },
      bot,
      '/api/v1/nodes',
      true,
    ],
    [
      'none of another namespace',
      { subjects: [account('c', '*')], resourceRules: [everything] },
      bot,
      '/api/v1/nodes',
      false,
    ],
    [
      'its namespaces',
      { subjects: [user('*')], resourceRules: [{ ...everything, namespaces: ['a'] }] },
      jane,
      '/api/v1/namespaces/a/pods',
      true,
    ],
    [
      'no other namespaces',
      { subjects: [user('*')], resourceRules: [{ ...everything, namespaces: ['a'] }] },
      jane,
      '/api/v1/namespaces/b/pods',
      false,
    ],
    [
      'nothing of the cluster unless it says so',
      { subjects: [user('*')], resourceRules: [{ ...everything, clusterScope: false }] },
      jane,
      '/api/v1/nodes',
      false,
    ],
    [
      'a subresource by its full name only',
      { subjects: [user('*')], resourceRules: [{ ...everything, resources: ['pods'] }] },
      jane,
      '/api/v1/namespaces/a/pods/p/status',
      false,
    ],
    [
      'its verbs',
      { subjects: [user('*')], resourceRules: [{ ...everything, verbs: ['get'] }] },
      jane,
      '/api/v1/nodes',
      false,
    ],
    [
      'paths below a wildcard',
      { subjects: [user('*')], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }] },
      jane,
      '/healthz/etcd',
      true,
    ],
    [
      'no path by a rule for resources',
      { subjects: [user('*')], resourceRules: [everything] },
      jane,
      '/healthz',
      false,
    ],
  ])('is for %s', (_what, rule, asking, path, expected) => {
    const info = parseRequestInfo('GET', path, new URLSearchParams());
    expect(matches(schema(rule), { info, user: asking })).toBe(expected);
  });
});

/** A write whose body does not come: it is under way until it is ended. */
function holdWrite(server: TestApiServer, config: ClientConfig): { end(): void } {
  const request = https.request(`${server.server}/api/v1/namespaces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': 100 },
    ca: config.caData,
    cert: config.certData,
    key: config.keyData,
    agent: false,
  });
  request.on('error', () => undefined);
  request.write('{');
  return { end: () => void request.destroy() };
}

interface Answer {
  code: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** One request, never tried again. */
function call(server: TestApiServer, config: ClientConfig, path: string, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      server.server + path,
      {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json' },
        ca: config.caData,
        cert: config.certData,
        key: config.keyData,
        agent: false,
      },
      (response) => {
        response.setEncoding('utf8');
        let text = '';
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ code: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      },
    );
    request.once('error', reject);
    request.end(body && JSON.stringify(body));
  });
}

describe('flow control of the server', () => {
  let server: TestApiServer;
  let client: Client;
  let jane: Awaited<ReturnType<TestApiServer['configFor']>>;
  beforeAll(async () => {
    server = await startApiServer({
      flags: [
        '--authorization-mode=AlwaysAllow',
        '--max-requests-inflight=1',
        '--max-mutating-requests-inflight=1',
      ],
    });
    client = createClient(server.adminConfig);
    jane = await server.configFor('jane', 'devs');
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const get = (path: string, config = jane) => call(server, config, path);
  const shown = (line: string) =>
    eventually(async () =>
      expect(await client.requestText({ method: 'GET', path: '/metrics' })).toContain(`${line}\n`),
    );
  const uidOf = async (kind: 'schema' | 'level', name: string) =>
    kind === 'schema'
      ? (await client.for(FlowSchemas).get(name)).metadata.uid
      : (await client.for(PriorityLevelConfigurations).get(name)).metadata.uid;

  it.each([
    ['global-default', 'global-default', '/api/v1/namespaces', undefined],
    ['probes', 'exempt', '/readyz', undefined],
    ['exempt', 'exempt', '/api/v1/namespaces', 'admin'],
  ])('says which FlowSchema and level a request is of: %s', async (schema, level, path, who) => {
    const { code, headers } = await get(path, who === 'admin' ? server.adminConfig : jane);
    expect(code).toBe(200);
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(await uidOf('schema', schema));
    expect(headers['x-kubernetes-pf-prioritylevel-uid']).toBe(await uidOf('level', level));
  });

  it('answers 429 where a level may not queue, and counts it', async () => {
    await client.for(PriorityLevelConfigurations).create({
      metadata: { name: 'narrow' },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
      },
    });
    await client.for(FlowSchemas).create({
      metadata: { name: 'narrow' },
      spec: {
        priorityLevelConfiguration: { name: 'narrow' },
        matchingPrecedence: 50,
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'jane' } }],
            resourceRules: [
              { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
            ],
          },
        ],
      },
    });
    const held = holdWrite(server, jane);
    try {
      await shown('apiserver_flowcontrol_current_executing_requests{priority_level="narrow"} 1');
      const refused = await get('/api/v1/namespaces');
      expect(refused.code).toBe(429);
      expect(refused.headers['retry-after']).toBe('1');
      expect(refused.headers['x-kubernetes-pf-flowschema-uid']).toBe(await uidOf('schema', 'narrow'));
      expect(refused.body).toBe('Too many requests, please try again later.\n');
    } finally {
      held.end();
    }
    await shown('apiserver_flowcontrol_current_executing_requests{priority_level="narrow"} 0');
    expect((await get('/api/v1/namespaces')).code).toBe(200);
    const metrics = await client.requestText({ method: 'GET', path: '/metrics' });
    expect(metrics).toMatch(
      /apiserver_flowcontrol_rejected_requests_total\{priority_level="narrow",flow_schema="narrow",reason="concurrency-limit"\} \d+/,
    );
  });

  it('does not count a watch that has begun', async () => {
    const config = { ca: jane.caData, cert: jane.certData, key: jane.keyData, agent: false } as const;
    const request = https.get(`${server.server}/api/v1/namespaces?watch=true`, config);
    try {
      await new Promise((resolve, reject) => {
        request.once('response', (response) => response.once('data', resolve));
        request.once('error', reject);
      });
      expect((await get('/api/v1/namespaces')).code).toBe(200);
    } finally {
      request.destroy();
    }
  });

  it('lets requests wait where a level may queue', async () => {
    const levels = client.for(PriorityLevelConfigurations);
    const narrow = await levels.get('narrow');
    await levels.update({
      ...narrow,
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 1,
          borrowingLimitPercent: 0,
          limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 2, queueLengthLimit: 50 } },
        },
      },
    });
    const held = holdWrite(server, jane);
    try {
      await shown('apiserver_flowcontrol_current_executing_requests{priority_level="narrow"} 1');
      const answers = Promise.all(Array.from({ length: 3 }, () => get('/api/v1/namespaces')));
      await shown('apiserver_flowcontrol_current_inqueue_requests{priority_level="narrow"} 3');
      held.end();
      expect((await answers).map(({ code }) => code)).toEqual([200, 200, 200]);
    } finally {
      held.end();
    }
  });

  it('says in a status whether the level is there', async () => {
    const dangling = async (name: string) =>
      (await client.for(FlowSchemas).get(name)).status?.conditions?.find(({ type }) => type === 'Dangling');
    await eventually(async () =>
      expect(await dangling('narrow')).toMatchObject({ status: 'False', reason: 'Found' }),
    );
    await client.for(PriorityLevelConfigurations).delete('narrow');
    await eventually(async () =>
      expect(await dangling('narrow')).toMatchObject({
        status: 'True',
        reason: 'NotFound',
        message:
          'This FlowSchema references the PriorityLevelConfiguration object named "narrow" but there is no such object',
      }),
    );
    const { headers } = await get('/api/v1/namespaces');
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(await uidOf('schema', 'global-default'));
  });

  it('says so of one that is created before its level, whatever status it brings, until the level comes', async () => {
    const schemas = client.for(FlowSchemas);
    const condition = async () => (await schemas.get('early')).status?.conditions?.[0];
    const created = await schemas.create({
      metadata: { name: 'early' },
      spec: { priorityLevelConfiguration: { name: 'late' }, matchingPrecedence: 9000 },
      status: { conditions: [{ type: 'Dangling', status: 'False' }] },
    });
    expect(created.status).toEqual({});
    expect(created.metadata.generation).toBe(1);
    await eventually(async () =>
      expect(await condition()).toMatchObject({ type: 'Dangling', status: 'True', reason: 'NotFound' }),
    );
    const managers = (await schemas.get('early')).metadata.managedFields ?? [];
    expect(managers.find(({ subresource }) => subresource === 'status')).toEqual({
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      fieldsType: 'FieldsV1',
      subresource: 'status',
      time: expect.any(String) as string,
      manager: 'api-priority-and-fairness-config-consumer-v1',
      operation: 'Apply',
      fieldsV1: {
        'f:status': {
          'f:conditions': {
            'k:{"type":"Dangling"}': {
              '.': {},
              'f:lastTransitionTime': {},
              'f:message': {},
              'f:reason': {},
              'f:status': {},
              'f:type': {},
            },
          },
        },
      },
    });
    await client.for(PriorityLevelConfigurations).create({
      metadata: { name: 'late' },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } },
      },
    });
    await eventually(async () =>
      expect(await condition()).toMatchObject({
        status: 'False',
        reason: 'Found',
        message:
          'This FlowSchema references the PriorityLevelConfiguration object named "late" and it exists',
      }),
    );
  });

  it('keeps what has to be there', async () => {
    const before = await uidOf('level', 'catch-all');
    await client.for(PriorityLevelConfigurations).delete('catch-all');
    await eventually(async () => expect(await uidOf('level', 'catch-all')).not.toBe(before));
  });
});

describe('limits without priorities', () => {
  it('refuse the request that is too many, but nobody of system:masters', async () => {
    const server = await startApiServer({
      flags: [
        '--authorization-mode=AlwaysAllow',
        '--enable-priority-and-fairness=false',
        '--max-mutating-requests-inflight=1',
      ],
    });
    const config = await server.configFor('jane');
    const admin = createClient(server.adminConfig);
    const held = holdWrite(server, config);
    try {
      await eventually(async () =>
        expect(await admin.requestText({ method: 'GET', path: '/metrics' })).toContain(
          'apiserver_current_inflight_requests{request_kind="mutating"} 1\n',
        ),
      );
      const create = async (as: ClientConfig, name: string) =>
        (await call(server, as, '/api/v1/namespaces', { kind: 'Namespace', metadata: { name } })).code;
      expect(await create(config, 'a')).toBe(429);
      expect((await call(server, config, '/api/v1/namespaces')).code).toBe(200);
      expect(await create(server.adminConfig, 'b')).toBe(201);
    } finally {
      held.end();
      admin.close();
      await server.stop();
    }
  });
});
