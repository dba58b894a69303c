import * as https from 'node:https';
import { gunzipSync } from 'node:zlib';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

describe('discovery and OpenAPI documents', () => {
  let server: TestApiServer;
  beforeAll(async () => {
    server = await startApiServer();
  });
  afterAll(() => server.stop());

  const get = (path: string, headers: Record<string, string>) =>
    new Promise<{ code: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      const { caData: ca, certData: cert, keyData: key } = server.adminConfig;
      const request = https.get(
        server.server + path,
        { ca, cert, key, headers, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({
              code: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks),
            }),
          );
        },
      );
      request.once('error', reject);
    });

  it.each([
    ['/apis', aggregated, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'],
    ['/openapi/v2', 'application/json', 'application/json'],
    ['/openapi/v2', protobuf, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'],
    ['/openapi/v3/apis/apps/v1', 'application/json', 'application/json'],
  ])('%s as %s is sent once to who keeps it, and compressed', async (path, accept, contentType) => {
    const plain = await get(path, { accept });
    expect(plain.headers['content-type']).toBe(contentType);
    expect(plain.headers.etag).toMatch(/^"[0-9A-F]{128}"$/);
    const again = await get(path, { accept, 'if-none-match': String(plain.headers.etag) });
    expect([again.code, again.body.length]).toEqual([304, 0]);
    const small = await get(path, { accept, 'accept-encoding': 'gzip' });
    expect(small.headers['content-encoding']).toBe('gzip');
    expect(small.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
  });

  it('are refused in forms that do not exist', async () => {
    expect((await get('/openapi/v2', { accept: 'text/html' })).code).toBe(406);
  });

  it('list groups by priority, as a real server does', async () => {
    const { groups } = JSON.parse((await get('/apis', {})).body.toString()) as { groups: { name: string }[] };
    expect(groups.slice(0, 4).map(({ name }) => name)).toEqual([
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
    ]);
  });
});
