import { ConfigMaps, Namespaces } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { realClock } from '@tinkernetes/component-base';
import { findProgram, RedisServer, silentLogger } from '@tinkernetes/component-base/testing';
import { openStorage } from '@tinkernetes/storage';
import { EtcdServer } from '@tinkernetes/storage/testing';
import { startApiServer } from '@tinkernetes/testing';

const namespace = { namespace: 'shared' };
const writes = 40;

interface StartedServer {
  readonly spec: string;
  remove(): Promise<void>;
}
const startRedis = async (program: string): Promise<StartedServer> => {
  const server = await RedisServer.start(program);
  return { spec: server.url, remove: () => server.remove() };
};
const startEtcd = async (program: string): Promise<StartedServer> => {
  const server = await EtcdServer.start(program);
  return { spec: `etcd:${server.url}`, remove: () => server.remove() };
};

async function eventsOf(client: Client, resourceVersion: string): Promise<string[]> {
  const events: string[] = [];
  const watch = client.for(ConfigMaps).watch({ ...namespace, resourceVersion, timeoutSeconds: 60 });
  for await (const { type, object } of watch) {
    const { name, resourceVersion: revision } = (
      object as { metadata: { name: string; resourceVersion: string } }
    ).metadata;
    if (events.push(`${type} ${name} ${revision}`) === 2 * writes) break;
  }
  return events;
}

describe.each([
  ['redis', findProgram('redis-server'), startRedis],
  ['etcd', findProgram('etcd'), startEtcd],
])('two API servers on one %s', (_, program, start) => {
  (program === undefined ? it.skip : it)(
    'see each other’s writes, in the same order, and refuse what the other one has changed',
    async () => {
      const { spec, remove } = await start(program ?? '');
      const stops: (() => unknown)[] = [remove];
      try {
        const open = async () => {
          const storage = await openStorage(spec, { clock: realClock, logger: silentLogger });
          stops.unshift(() => storage.close());
          const server = await startApiServer({ storage });
          const client = createClient(server.adminConfig);
          stops.unshift(() => server.stop());
          stops.unshift(() => client.close());
          return client;
        };
        const first = await open();
        const second = await open();
        await first.for(Namespaces).create({ metadata: { name: 'shared' }, spec: {} });
        // A read without resourceVersion is as new as the storage, whoever wrote.
        const { metadata } = await second.for(ConfigMaps).list(namespace);
        const watched = Promise.all(
          [first, second].map((client) => eventsOf(client, metadata.resourceVersion ?? '')),
        );
        await Promise.all(
          [first, second].flatMap((client, i) =>
            Array.from({ length: writes }, (__, n) =>
              client.for(ConfigMaps).create({ metadata: { name: `m-${i}-${n}` }, data: {} }, namespace),
            ),
          ),
        );
        const [ofFirst, ofSecond] = await watched;
        expect(ofFirst).toEqual(ofSecond);
        const seen = await second.for(ConfigMaps).get('m-0-0', namespace);
        await first.for(ConfigMaps).update({ ...seen, data: { by: 'first' } }, namespace);
        await expect(
          second.for(ConfigMaps).update({ ...seen, data: { by: 'second' } }, namespace),
        ).rejects.toMatchObject({ reason: 'Conflict' });
      } finally {
        for (const stop of stops) await stop();
      }
    },
  );
});
