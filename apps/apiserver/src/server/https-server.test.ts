import { request } from 'node:https';
import { createSelfSignedCertificate } from '@tinkernetes/pki';
import { startHttpsServer, type HttpsServer } from './https-server';

describe('startHttpsServer', () => {
  let server: HttpsServer;
  const seen: Array<[url: string | undefined, isPage: boolean]> = [];

  beforeAll(async () => {
    const { certificate, key } = await createSelfSignedCertificate({
      commonName: 'test',
      ipAddresses: ['127.0.0.1'],
      usages: ['serverAuth'],
      now: Date.now(),
    });
    server = await startHttpsServer(
      { cert: certificate, key, clientCa: undefined },
      { host: '127.0.0.1', port: 0 },
      (raw, response) => {
        // Express leaves its application on the requests that it hands on.
        seen.push([raw.url, 'app' in raw]);
        response.end('served');
        return raw.url?.endsWith('fail') ? Promise.reject(new Error('failed late')) : Promise.resolve();
      },
    );
  });
  afterAll(() => server.close());

  const get = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: server.port, path, rejectUnauthorized: false, agent: false },
        (answer) => {
          answer.setEncoding('utf8');
          answer.on('data', resolve);
        },
      );
      sent.on('error', reject);
      sent.end();
    });

  it.each([
    ['/api', false],
    ['/api/v1/pods?limit=1', false],
    ['/apis/apps/v1/deployments', false],
    ['/apiserver', true],
    ['/healthz', true],
    ['/', true],
  ])('serves %s (through Express: %s)', async (path, isPage) => {
    expect(await get(path)).toBe('served');
    expect(seen.at(-1)).toEqual([path, isPage]);
  });

  it('goes on after a handler that failed', async () => {
    await get('/api/fail').catch(() => undefined);
    expect(await get('/api/v1')).toBe('served');
  });
});
