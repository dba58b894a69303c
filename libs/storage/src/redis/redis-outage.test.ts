import { createLogger, realClock, type Logger } from '@tinkernetes/component-base';
import {
  eventually,
  findProgram,
  freePort,
  RedisServer,
  silentLogger,
} from '@tinkernetes/component-base/testing';
import { Writable } from 'node:stream';
import { bytes, text, WatchRecording } from '../testing';
import { GuardFailedError, type Storage } from '../types';
import { openRedisStorage } from './open-redis-storage';

const program = findProgram('redis-server');
const describeWithRedis = program === undefined ? describe.skip : describe;
const rounds = Number(process.env.CRASH_ROUNDS ?? 5);

describeWithRedis('redis storage and its server (needs redis-server: apt-get install redis-server)', () => {
  let server: RedisServer;
  const opened: Storage[] = [];
  const open = async (logger: Logger = silentLogger) => {
    const storage = await openRedisStorage(server.url, { clock: realClock, keepHistoryMs: 0, logger });
    opened.push(storage);
    return storage;
  };
  const startServer = async (settings?: string[]) => {
    server = await RedisServer.start(program ?? '', settings);
  };
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
    await server.remove();
  });

  it('lets two API servers see each other’s writes in one order', async () => {
    await startServer();
    const [a, b] = [await open(), await open()];
    const watches = [new WatchRecording(a, '/', 1), new WatchRecording(b, '/', 1)];
    await Promise.all(
      [a, b].flatMap((storage, i) =>
        Array.from({ length: 50 }, (_, n) => storage.create(`/k/${i}/${n}`, bytes(`${n}`))),
      ),
    );
    for (const watch of watches) await watch.reached(101);
    expect(watches[0]?.events).toEqual(watches[1]?.events);
    for (const watch of watches) await watch.stop();
  });

  it(
    `loses and doubles nothing over ${rounds} kills of the server under concurrent writers`,
    async () => {
      await startServer();
      const storage = await open();
      const watch = new WatchRecording(storage, '/', 1);
      const acknowledged = new Map<number, string>();
      let stop = false;
      const writer = async (name: string) => {
        for (let n = 0; !stop; n++) {
          try {
            const { item } = await storage.get(`/k/${name}`);
            const value = bytes(`${name}-${n}`);
            const written = item
              ? await storage.update(`/k/${name}`, value, item.modRevision)
              : await storage.create(`/k/${name}`, value);
            acknowledged.set(written.modRevision, `${name}-${n}`);
          } catch (error) {
            // Each writer has a key of its own: a refusal would mean that its own write was done twice.
            if (error instanceof GuardFailedError) throw error;
            throw new Error('a write failed', { cause: error });
          }
        }
      };
      const writers = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(writer));
      for (let round = 0; round < rounds; round++) {
        const reached = acknowledged.size + 50;
        await eventually(() => acknowledged.size > reached);
        await server.kill();
        await server.start();
      }
      stop = true;
      await writers;
      const now = await storage.currentRevision();
      await watch.reached(now);
      expect(watch.events.map(({ revision }) => revision)).toEqual(
        Array.from({ length: now - 1 }, (_, i) => i + 2),
      );
      for (const [revision, value] of acknowledged)
        expect(text(watch.events[revision - 2]?.current)).toBe(value);
      await watch.stop();
    },
    30_000 + rounds * 6_000,
  );

  it('never sees half of a transaction that the server was killed amid, whatever restarts follow', async () => {
    await startServer();
    const writeAndKill = async (key: string) => {
      const storage = await open();
      await storage.create(key, bytes(key));
      await storage.close();
      await server.kill();
    };
    await writeAndKill('/first');
    await server.start();
    await writeAndKill('/torn');
    server.cutLog(30);
    await server.start();
    await writeAndKill('/next');
    await server.start();
    const storage = await open();
    await storage.create('/last', bytes('/last'));
    const { revision, items } = await storage.range('/');
    expect(items.map(({ key, modRevision }) => `${key}@${modRevision}`)).toEqual([
      '/first@2',
      '/last@4',
      '/next@3',
    ]);
    const watch = await new WatchRecording(storage, '/', 1).reached(revision);
    await watch.stop();
    expect(watch.events.map((event) => event.revision)).toEqual([2, 3, 4]);
  });

  it('refuses to go on with a server that has lost acknowledged writes', async () => {
    await startServer(['--appendonly', 'no']);
    const storage = await open();
    const watch = new WatchRecording(storage, '/', 1);
    await storage.create('/a', bytes('1'));
    await server.kill();
    await server.start();
    await expect(storage.get('/a')).rejects.toThrow(/has lost acknowledged writes/);
    await expect(watch.ended).rejects.toThrow(/has lost acknowledged writes/);
  });

  it.each([
    ['appendonly is off', ['--appendonly', 'no']],
    ['appendfsync is "everysec"', ['--appendonly', 'yes', '--appendfsync', 'everysec']],
    [undefined, ['--appendonly', 'yes', '--appendfsync', 'always']],
  ])('warns %s', async (warning, settings) => {
    await startServer(settings);
    let logged = '';
    const destination = new Writable({
      write(chunk: Buffer, _, done) {
        logged += chunk.toString();
        done();
      },
    });
    await open(createLogger({ component: 'test', level: 'warn', destination }));
    if (warning === undefined) expect(logged).toBe('');
    else expect((JSON.parse(logged) as { msg: string }).msg).toContain(warning);
  });

  it('says which server does not answer, without its password', async () => {
    await startServer();
    const url = `redis://:secret@127.0.0.1:${await freePort()}`;
    const error = await openRedisStorage(url, { clock: realClock, logger: silentLogger }).catch(
      (e: Error) => e,
    );
    expect((error as Error).message).toMatch(/^redis:\/\/127\.0\.0\.1:\d+ can't be used/);
    expect((error as Error).message).not.toContain('secret');
  });
});
