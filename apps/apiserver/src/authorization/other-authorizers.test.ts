import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMaps } from '@tinkernetes/api';
import { createClient } from '@tinkernetes/client';
import { startApiServer } from '@tinkernetes/testing';
import type { AuthorizationAttributes } from '../contracts';
import { parsePolicies, policyAllows, type AbacPolicy } from './abac-authorizer';

const attributes = (more: Partial<AuthorizationAttributes>): AuthorizationAttributes => ({
  user: { name: 'ann', groups: ['dev'] },
  verb: 'get',
  isResourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'x',
  path: '',
  ...more,
});

describe('ABAC', () => {
  it.each<[string, AbacPolicy, Partial<AuthorizationAttributes>, boolean]>([
    ['a user his namespace', { user: 'ann', namespace: 'a', resource: '*', apiGroup: '*' }, {}, true],
    ['no other namespace', { user: 'ann', namespace: 'b', resource: '*', apiGroup: '*' }, {}, false],
    ['a group', { group: 'dev', namespace: '*', resource: 'pods' }, {}, true],
    ['no one without a subject', { namespace: '*', resource: '*', apiGroup: '*' }, {}, false],
    [
      'nothing that writes, when read-only',
      { user: '*', namespace: '*', resource: '*', readonly: true },
      { verb: 'update' },
      false,
    ],
    [
      'paths by prefix',
      { user: 'ann', nonResourcePath: '/api*' },
      { isResourceRequest: false, path: '/apis/apps' },
      true,
    ],
  ])('allows %s', (_, policy, more, expected) => {
    expect(policyAllows(policy, attributes(more))).toBe(expected);
  });

  it('says which line is no policy', () => {
    expect(parsePolicies('# comment\n{"kind":"Policy","spec":{"user":"a"}}\n', 'f')).toEqual([{ user: 'a' }]);
    expect(() => parsePolicies('{"kind":"Policy","spec":{}}\n{}', 'f')).toThrow(
      'f:2: must be a Policy with a spec',
    );
  });
});

describe('the Webhook authorizer', () => {
  let directory: string;
  let webhook: Server;
  const asked: { user: string; resourceAttributes?: { verb: string } }[] = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tinkernetes-webhook-'));
    webhook = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const { spec } = JSON.parse(text) as { spec: (typeof asked)[number] };
        asked.push(spec);
        const allowed = spec.user === 'ann' && spec.resourceAttributes?.verb === 'list';
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            status: { allowed, ...(allowed ? {} : { denied: true, reason: 'not on my watch' }) },
          }),
        );
      });
    });
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', () => resolve()));
  });
  afterAll(async () => {
    webhook.close();
    webhook.closeAllConnections();
    await rm(directory, { recursive: true, force: true });
  });

  it('asks the webhook, remembers its answers and gives its reasons', async () => {
    const file = join(directory, 'webhook.kubeconfig');
    const { port } = webhook.address() as AddressInfo;
    await writeFile(
      file,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}/authorize` } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      }),
    );
    const server = await startApiServer({
      flags: ['--authorization-mode=Webhook', `--authorization-webhook-config-file=${file}`],
    });
    const client = createClient(await server.configFor('ann'));
    try {
      const configMaps = client.for(ConfigMaps);
      await configMaps.list({ namespace: 'default' });
      await configMaps.list({ namespace: 'default' });
      expect(asked).toHaveLength(1);
      await expect(configMaps.get('x', { namespace: 'default' })).rejects.toThrow(
        'User "ann" cannot get resource "configmaps" in API group "" in the namespace "default": not on my watch',
      );
    } finally {
      client.close();
      await server.stop();
    }
  });
});
