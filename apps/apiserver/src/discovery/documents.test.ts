import * as https from 'node:https';
import { gunzipSync } from 'node:zlib';
import { CustomResourceDefinitions } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const protobufV3 = protobuf.replace('v2', 'v3');

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
    ['/openapi/v3/apis/apps/v1', protobufV3, 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'],
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
    expect((await get('/openapi/v3/apis/apps/v1', { accept: 'text/html' })).code).toBe(406);
  });

  it('are found anew by who knows an old hash', async () => {
    const old = await get('/openapi/v3/apis/apps/v1?hash=old', {});
    expect(old.code).toBe(301);
    const { code, headers } = await get(String(old.headers.location), {});
    expect([code, headers['cache-control']]).toEqual([200, 'public, immutable']);
  });

  it('say that custom kinds are not merged strategically, by which kubectl chooses its patches', async () => {
    await server.stores.for(CustomResourceDefinitions).create({
      metadata: { name: 'lamps.light.test' },
      spec: {
        group: 'light.test',
        scope: 'Namespaced',
        names: { plural: 'lamps', kind: 'Lamp' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    } as never);
    const strategic = 'application/strategic-merge-patch+json';
    const paths = {
      deployment: '/apis/apps/v1/namespaces/{namespace}/deployments/{name}',
      lamp: '/apis/light.test/v1/namespaces/{namespace}/lamps/{name}',
    };
    interface V3 {
      paths: Record<string, { patch: { requestBody: { content: object } } }>;
    }
    interface V2 {
      paths: Record<string, { patch: { consumes: string[] } }>;
    }
    const read = async <T>(path: string) => JSON.parse((await get(path, {})).body.toString()) as T;
    await eventually(async () => expect((await get('/openapi/v3/apis/light.test/v1', {})).code).toBe(200));
    const inV3 = async (group: string, path: string) =>
      Object.keys(
        (await read<V3>(`/openapi/v3/apis/${group}/v1`)).paths[path]?.patch.requestBody.content ?? {},
      );
    expect(await inV3('apps', paths.deployment)).toContain(strategic);
    expect(await inV3('light.test', paths.lamp)).not.toContain(strategic);
    const v2 = await read<V2>('/openapi/v2');
    expect(v2.paths[paths.deployment]?.patch.consumes).toContain(strategic);
    expect(v2.paths[paths.lamp]?.patch.consumes).not.toContain(strategic);
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
