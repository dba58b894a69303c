import { join } from 'node:path';
import { realClock } from '@tinkernetes/component-base';
import { findProgram, silentLogger } from '@tinkernetes/component-base/testing';
import { Root } from 'protobufjs';
import { bytes, storageContract, text, WatchRecording } from '../testing';
import { EtcdServer } from '../testing/etcd-server';
import { descriptor } from './generated/descriptor';
import { openEtcdStorage } from './open-etcd-storage';

const program = findProgram('etcd');

it('knows the messages of proto/etcd', () => {
  const proto = join(__dirname, '../../../../proto/etcd/v3/rpc.proto');
  expect(descriptor).toEqual(new Root().loadSync(proto, { keepCase: true }).toJSON());
});

if (program === undefined) {
  it.skip('etcd storage (skipped: etcd is not installed; apt-get install etcd-server)', () => undefined);
} else {
  describe('etcd storage', () => {
    let server: EtcdServer;
    let stores = 0;
    const options = { clock: realClock, keepHistoryMs: 0, logger: silentLogger };
    const open = () => openEtcdStorage(`${server.url}?prefix=/store-${stores++}`, options);
    beforeAll(async () => {
      server = await EtcdServer.start(program);
    });
    afterAll(() => server.remove());

    storageContract({
      create: open,
      modelRuns: 10,
      skip: [
        {
          test: 'takes chained writes that do not wait for each other',
          reason: 'etcd takes concurrent requests in any order',
        },
        {
          test: 'deletes a key when its time to live has passed, with an event',
          reason: 'leases run on the clock of etcd; tested below in real time',
        },
        {
          test: 'restores a snapshot into an empty store with all revisions',
          reason: 'etcd numbers its revisions itself: etcd-secured.test.ts restores one with new revisions',
        },
      ],
    });

    it('lets etcd delete keys whose time to live has passed', async () => {
      const storage = await open();
      const made = await storage.create('/short', bytes('1'), { ttlSeconds: 1 });
      const watch = await new WatchRecording(storage, '/', made.modRevision).reached(made.modRevision + 1);
      expect(watch.events.map(({ type, key, previous }) => [type, key, text(previous)])).toEqual([
        ['DELETE', '/short', '1'],
      ]);
      await watch.stop();
      await storage.close();
    });

    it('goes on with its watches when etcd is killed and started again', async () => {
      const storage = await open();
      const first = await storage.create('/a', bytes('1'));
      const watch = await new WatchRecording(storage, '/', first.modRevision - 1).reached(first.modRevision);
      await server.kill();
      await server.start();
      const second = await storage.create('/b', bytes('2'));
      await watch.reached(second.modRevision);
      expect(watch.events.map(({ key }) => key)).toEqual(['/a', '/b']);
      await watch.stop();
      await storage.close();
    });
  });
}
