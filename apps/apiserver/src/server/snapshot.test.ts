import { request } from 'node:https';
import type { ClientConfig } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

describe('/debug/tinkernetes/snapshot', () => {
  let server: TestApiServer;
  beforeAll(async () => {
    server = await startApiServer({ flags: ['--authorization-mode=RBAC'] });
  });
  afterAll(() => server.stop());

  const send = (method: string, { caData, certData, keyData }: ClientConfig) =>
    new Promise<[status: number | undefined, text: string]>((resolve, reject) => {
      const options = { method, ca: caData, cert: certData, key: keyData, agent: false };
      const req = request(`${server.server}/debug/tinkernetes/snapshot`, options, (response) => {
        response
          .setEncoding('latin1')
          .toArray()
          .then((chunks) => resolve([response.statusCode, chunks.join('')]), reject);
      });
      req.on('error', reject).end();
    });

  it('is for administrators only, and only to be read', async () => {
    const [status, text] = await send('GET', server.adminConfig);
    expect(status).toBe(200);
    expect(text).toMatch(/^\{"format":"tinkernetes-storage-snapshot"[^]*"sha256":"[0-9a-f]{64}"\}\n$/);
    const nobody = await server.configFor('nobody');
    expect((await send('GET', nobody))[0]).toBe(403);
    expect((await send('POST', server.adminConfig))[0]).toBe(405);
  });
});
