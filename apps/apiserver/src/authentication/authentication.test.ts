import { Namespaces, Pods, Secrets, ServiceAccounts, type TokenRequest } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { parseTokenFile } from './token-file';

interface WhoAmI {
  status: { userInfo: { username: string; groups?: string[]; extra?: Record<string, string[]> } };
}

describe('authentication', () => {
  let server: TestApiServer;
  let admin: Client;
  const clients: Client[] = [];

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--enable-bootstrap-token-auth'] });
    admin = createClient(server.adminConfig);
    clients.push(admin);
    await admin.for(Namespaces).create({ metadata: { name: 'a' }, spec: {} });
    await admin.for(ServiceAccounts).create({ metadata: { name: 'bot' } }, { namespace: 'a' });
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await server.stop();
  });

  const withToken = (token: string): Client => {
    const { caData } = server.adminConfig;
    const client = createClient({ server: server.server, caData, token, userAgent: 'test' });
    clients.push(client);
    return client;
  };
  const whoAmI = (client: Client) =>
    client.request<WhoAmI>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
  const codeOf = (call: Promise<unknown>): Promise<number> =>
    call.then(
      () => 200,
      (error: { code: number }) => error.code,
    );
  const requestToken = async (spec: object): Promise<string> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const answer = await admin
      .for(ServiceAccounts)
      .subresource<TokenRequest>('POST', 'bot', 'token', body, { namespace: 'a' });
    return answer.status?.token ?? '';
  };

  it('knows users by their certificate: CN is the name, each O a group', async () => {
    const client = createClient(await server.configFor('jane', 'dev', 'ops'));
    clients.push(client);
    const { userInfo } = (await whoAmI(client)).status;
    expect(userInfo.username).toBe('jane');
    expect(userInfo.groups).toEqual(['dev', 'ops', 'system:authenticated']);
  });

  it('knows service accounts by the tokens that it issues', async () => {
    const { userInfo } = (await whoAmI(withToken(await requestToken({})))).status;
    expect(userInfo.username).toBe('system:serviceaccount:a:bot');
    expect(userInfo.groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:a',
      'system:authenticated',
    ]);
    expect(userInfo.extra?.['authentication.kubernetes.io/credential-id']?.[0]).toMatch(
      /^JTI=[0-9a-f-]{36}$/,
    );
  });

  it('refuses tokens for others, changed ones and garbage', async () => {
    const token = await requestToken({});
    const elsewhere = await requestToken({ audiences: ['vault'] });
    const [head, claims = '', signature] = token.split('.');
    const forged = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as Record<string, unknown>;
    forged.sub = 'system:serviceaccount:kube-system:root';
    const changed = [head, Buffer.from(JSON.stringify(forged)).toString('base64url'), signature].join('.');
    const unsigned = [Buffer.from('{"alg":"none"}').toString('base64url'), claims, ''].join('.');
    for (const bad of [elsewhere, changed, unsigned, 'garbage', 'a.b.c']) {
      expect(await codeOf(whoAmI(withToken(bad)))).toBe(401);
    }
  });

  it('stops knowing a token when the Pod that it is bound to is gone', async () => {
    const pods = admin.for(Pods);
    await pods.create(
      {
        metadata: { name: 'p' },
        spec: { serviceAccountName: 'bot', containers: [{ name: 'c', image: 'i' }] },
      },
      { namespace: 'a' },
    );
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
    const [first, second] = [await requestToken({ boundObjectRef }), await requestToken({ boundObjectRef })];
    const { userInfo } = (await whoAmI(withToken(first))).status;
    expect(userInfo.extra?.['authentication.kubernetes.io/pod-name']).toEqual(['p']);
    await pods.delete('p', { namespace: 'a', gracePeriodSeconds: 0 });
    // Not the token used above: what was good is remembered for ten seconds.
    expect(await codeOf(whoAmI(withToken(second)))).toBe(401);
  });

  it('lets new nodes in with bootstrap tokens while they are valid', async () => {
    const secret = (id: string, more: Record<string, string>) =>
      admin.for(Secrets).create(
        {
          metadata: { name: `bootstrap-token-${id}` },
          type: 'bootstrap.kubernetes.io/token',
          stringData: {
            'token-id': id,
            'token-secret': '0123456789abcdef',
            'usage-bootstrap-authentication': 'true',
            ...more,
          },
        },
        { namespace: 'kube-system' },
      );
    await secret('abcdef', { 'auth-extra-groups': 'system:bootstrappers:edge,wrong' });
    await secret('expire', { expiration: '2020-01-01T00:00:00Z' });
    const { userInfo } = (await whoAmI(withToken('abcdef.0123456789abcdef'))).status;
    expect(userInfo.username).toBe('system:bootstrap:abcdef');
    expect(userInfo.groups).toEqual([
      'system:bootstrappers',
      'system:bootstrappers:edge',
      'system:authenticated',
    ]);
    expect(await codeOf(whoAmI(withToken('expire.0123456789abcdef')))).toBe(401);
    expect(await codeOf(whoAmI(withToken('abcdef.fedcba9876543210')))).toBe(401);
  });

  it('keeps a token that nobody refreshes valid for long, but tells when it should be renewed', async () => {
    const pods = admin.for(Pods);
    await pods.create(
      {
        metadata: { name: 'old' },
        spec: { serviceAccountName: 'bot', containers: [{ name: 'c', image: 'i' }] },
      },
      { namespace: 'a' },
    );
    const token = await requestToken({
      expirationSeconds: 3607,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'old' },
    });
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
      iat: number;
      exp: number;
      'kubernetes.io': { warnafter: number };
    };
    expect(claims.exp - claims.iat).toBe(365 * 24 * 3600);
    expect(claims['kubernetes.io'].warnafter - claims.iat).toBe(3607);
  });

  it('publishes the keys that its tokens can be checked with', async () => {
    // Who asks for JSON only is refused, here as by upstream.
    const text = await admin.requestText({ method: 'GET', path: '/openid/v1/jwks' });
    const { keys } = JSON.parse(text) as { keys: { kid: string; alg: string }[] };
    const token = await requestToken({});
    const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8')) as {
      kid: string;
    };
    expect(keys).toEqual([expect.objectContaining({ kid: header.kid, alg: 'ES256', use: 'sig' })]);
    const configuration = await admin.request<{ issuer: string; jwks_uri: string }>({
      method: 'GET',
      path: '/.well-known/openid-configuration',
    });
    expect(configuration.jwks_uri).toBe(`${server.server}/openid/v1/jwks`);
  });
});

describe('parseTokenFile', () => {
  it('reads users with quoted groups', () => {
    const users = [...parseTokenFile('t1,jane,u1,"dev,ops"\n\nt2, joe ,u2\n', 'file').values()];
    expect(users).toEqual([
      { name: 'jane', uid: 'u1', groups: ['dev', 'ops'] },
      { name: 'joe', uid: 'u2', groups: [] },
    ]);
  });

  it('says where a line is too short', () => {
    expect(() => parseTokenFile('a,b\n', 'tokens.csv')).toThrow(
      'tokens.csv:1: a line needs at least three columns',
    );
  });
});
