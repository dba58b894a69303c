import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { ConfigMaps, Namespaces } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

const watchPath = '/api/v1/namespaces/busy/configmaps?watch=1&resourceVersion=';
const updates = 250;
const text = 'x'.repeat(200_000);
/** Far less than what may wait for a watcher: on a slow machine the reading one must not fall behind either. */
const updatesAhead = 20;

describe('a watcher that does not read', () => {
  let server: TestApiServer;

  beforeAll(async () => {
    server = await startApiServer();
    await server.stores.for(Namespaces).create({ metadata: { name: 'busy' } } as never);
  });
  afterAll(() => server.stop());

  function open(path: string): Promise<IncomingMessage> {
    const { caData: ca, certData: cert, keyData: key } = server.adminConfig;
    return new Promise((resolve, reject) => {
      const req = request(server.server + path, { ca, cert, key, agent: false });
      req.on('response', resolve).on('error', reject).end();
    });
  }

  it('is closed, while the others get every event and nothing piles up for it', async () => {
    const store = server.stores.for(ConfigMaps);
    const metadata = { name: 'a', namespace: 'busy' };
    const { metadata: created } = await store.create({ metadata, data: { text } } as never);
    const [slow, fast] = await Promise.all([1, 2].map(() => open(`${watchPath}${created.resourceVersion}`)));
    let frames = 0;
    fast?.on('data', (chunk: Buffer) => (frames += chunk.filter((byte) => byte === 10).length));
    const closed = new Promise<void>((resolve) => slow?.once('close', resolve));
    slow?.on('error', () => undefined);
    for (let i = 0; i < updates; i++) {
      await store.modify('a', 'busy', (current) => ({ ...current, data: { text: `${i}${text}` } }));
      if (i % updatesAhead === 0) await eventually(() => frames === i + 1);
    }
    await eventually(() => frames === updates);
    const metrics = await open('/metrics').then((response) => response.setEncoding('utf8').toArray());
    const lines = metrics.join('').split('\n');
    expect(lines).toContain('apiserver_terminated_watchers_total{group="",resource="configmaps"} 1');
    expect(lines).toContain(
      'apiserver_longrunning_requests{verb="WATCH",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver"} 1',
    );
    expect(lines.join('\n')).toMatch(/^apiserver_storage_objects\{resource="configmaps"\} \d+$/m);
    // What reached its socket before can still be read; then the stream ends.
    slow?.resume();
    await closed;
    fast?.destroy();
  });
});
