import { realClock } from '@tinkernetes/component-base';
import { eventually, findProgram, silentLogger } from '@tinkernetes/component-base/testing';
import { bytes, text, WatchRecording } from '../testing';
import { EtcdServer } from '../testing/etcd-server';
import { StorageUnusableError, type Storage } from '../types';
import { openEtcdStorage } from './open-etcd-storage';

const program = findProgram('etcd');
const describeWithEtcd = program === undefined ? describe.skip : describe;
const rounds = Number(process.env.CRASH_ROUNDS ?? 3);

/** Writes to a key of its own until told to stop; a call that the outage broke off may or may not have been done. */
async function write(
  storage: Storage,
  { name, acknowledged, stopped }: { name: string; acknowledged: Map<number, string>; stopped(): boolean },
): Promise<void> {
  for (let n = 0; !stopped(); n++) {
    try {
      const { item } = await storage.get(`/k/${name}`);
      const value = `${name}-${n}`;
      const written = item
        ? await storage.update(`/k/${name}`, bytes(value), item.modRevision)
        : await storage.create(`/k/${name}`, bytes(value));
      acknowledged.set(written.modRevision, value);
    } catch (error) {
      if (!(error instanceof StorageUnusableError)) throw error;
      await realClock.sleep(20);
    }
  }
}

describeWithEtcd('etcd storage and its server (needs etcd: apt-get install etcd-server)', () => {
  it(
    `has every acknowledged write, and its watch every event once, after ${rounds} kills under concurrent writers`,
    async () => {
      const server = await EtcdServer.start(program ?? '');
      const storage = await openEtcdStorage(server.url, {
        clock: realClock,
        keepHistoryMs: 0,
        logger: silentLogger,
      });
      const started = await storage.currentRevision();
      const watch = new WatchRecording(storage, '/', started);
      const acknowledged = new Map<number, string>();
      let stop = false;
      const writers = Promise.all(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
          write(storage, { name, acknowledged, stopped: () => stop }),
        ),
      );
      for (let round = 0; round < rounds; round++) {
        const reached = acknowledged.size + 30;
        await eventually(() => acknowledged.size > reached);
        await server.kill();
        await server.start();
      }
      stop = true;
      await writers;
      const last = await storage.create('/k/last', bytes('last'));
      await watch.reached(last.modRevision);
      const revisions = watch.events.map(({ revision }) => revision);
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
      const seen = new Map(watch.events.map(({ revision, current }) => [revision, text(current)]));
      const lost = [...acknowledged].filter(([revision, value]) => seen.get(revision) !== value);
      expect(lost).toEqual([]);
      expect(acknowledged.size).toBeGreaterThan(rounds * 30);
      await watch.stop();
      await storage.close();
      await server.remove();
    },
    rounds * 30_000,
  );
});
