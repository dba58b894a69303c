import { Pods } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { realClock } from '@tinkernetes/component-base';
import { eventually, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { asking, createPod, createReadyNode } from './testing/api-objects';
import { BreakableProxy } from './testing/breakable-proxy';
import { startScheduler } from './testing/running-scheduler';

describe('scheduler while the API server comes and goes', () => {
  let server: TestApiServer;
  let client: Client;
  let proxy: BreakableProxy;
  const schedulers: StartedComponent[] = [];

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    client = createClient(server.adminConfig);
    proxy = await BreakableProxy.start(server.port);
    const config = await server.configFor('system:kube-scheduler');
    const throughProxy = { ...config, server: `https://127.0.0.1:${proxy.port}` };
    for (let i = 0; i < 5; i++) await createReadyNode(client, `node-${i}`);
    // Two for one name: what one binds the other must leave alone.
    schedulers.push(await startScheduler(throughProxy, ['--leader-elect=false']));
    schedulers.push(await startScheduler(config, ['--leader-elect=false']));
  });
  afterAll(async () => {
    for (const scheduler of schedulers) await scheduler.stop();
    await proxy.stop();
    client.close();
    await server.stop();
  });

  it('binds every Pod once, and fills no node beyond its capacity', async () => {
    const count = 150;
    const creating = (async () => {
      for (let i = 0; i < count; i += 10)
        await Promise.all(
          Array.from({ length: 10 }, (_, j) => createPod(client, `p-${i + j}`, asking('50m'))),
        );
    })();
    for (let i = 0; i < 4; i++) {
      await realClock.sleep(50);
      proxy.break();
      await realClock.sleep(100);
      proxy.mend();
    }
    await creating;
    const nodes = await eventually(
      async () => {
        const { items } = await client.for(Pods).list({ namespace: 'default' });
        const bound = items.flatMap(({ spec }) => spec?.nodeName ?? []);
        expect(bound).toHaveLength(count);
        return bound;
      },
      { intervalMs: 100 },
    );
    for (let i = 0; i < 5; i++)
      expect(nodes.filter((node) => node === `node-${i}`).length).toBeLessThanOrEqual(40);
  });
});
