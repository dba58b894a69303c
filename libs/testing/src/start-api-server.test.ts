import { ConfigMaps } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from './start-api-server';

describe('startApiServer', () => {
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

  it('serves writes, reads and watches to a real client', async () => {
    const configMaps = client.for(ConfigMaps);
    const created = await configMaps.create(
      { metadata: { name: 'a' }, data: { x: '1' } },
      { namespace: 'default' },
    );
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      const { resourceVersion } = created.metadata;
      for await (const event of configMaps.watch({
        namespace: 'default',
        resourceVersion,
        signal: stop.signal,
      })) {
        seen.push(event.type);
        if (seen.length === 2) return;
      }
    })();
    await configMaps.patch('a', { data: { x: '2' } }, { namespace: 'default', type: 'merge' });
    await configMaps.delete('a', { namespace: 'default' });
    await watching;
    stop.abort();
    expect(seen).toEqual(['MODIFIED', 'DELETED']);
    const gone = await configMaps.get('a', { namespace: 'default' }).catch((error: unknown) => error);
    expect(isNotFound(gone)).toBe(true);
  });
});
