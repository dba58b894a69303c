import type { KubeObject } from '@tinkernetes/api';
import { eventually, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { realClock } from '@tinkernetes/component-base';
import { createMemoryStorage, type Storage } from '@tinkernetes/storage';
import { prefixOfKey, StorageFeed } from './storage-feed';
import { WrittenObjects } from './written-objects';

describe('StorageFeed', () => {
  let storage: Storage;
  let stop: AbortController;
  let feed: StorageFeed;
  let first: number;

  beforeEach(async () => {
    stop = new AbortController();
    storage = await createMemoryStorage({ clock: realClock });
    first = (await storage.create('/registry/pods/a/one', Buffer.from('{}'))).modRevision;
    feed = new StorageFeed(storage, { clock: realClock, logger: silentLogger, signal: stop.signal });
    await feed.start();
  });
  afterEach(async () => {
    stop.abort(new Error('test is over'));
    await feed.stopped();
    await storage.close();
  });

  it('shows what was stored before and what is written after', async () => {
    const cache = feed.cache('/registry/pods/');
    expect(cache.get('one', 'a')?.revision).toBe(first);
    const { modRevision } = await storage.create('/registry/pods/a/two', Buffer.from('{}'));
    await feed.waitFor(modRevision);
    expect(cache.list('a').map((entry) => entry.name)).toEqual(['one', 'two']);
  });

  it('lets nobody wait for what comes after its end', async () => {
    const waiting = feed.waitFor(first + 1000);
    const ended = new Error('the server stops');
    stop.abort(ended);
    await expect(waiting).rejects.toBe(ended);
    await expect(feed.waitFor(first + 1000)).rejects.toBe(ended);
    await expect(feed.waitFor(first)).resolves.toBeUndefined();
  });

  it('lists namespaces and names in the order of their keys', async () => {
    for (const key of ['a-b/x', 'a/z', 'b/y'])
      await storage.create(`/registry/pods/${key}`, Buffer.from('{}'));
    await feed.waitUntilFresh();
    const names = feed
      .cache('/registry/pods/')
      .list()
      .map((entry) => `${entry.namespace}/${entry.name}`);
    expect(names).toEqual(['a-b/x', 'a/one', 'a/z', 'b/y']);
  });

  it('tells subscribers the state before and the last state of what is deleted', async () => {
    const seen: string[] = [];
    feed.cache('/registry/pods/').subscribe({
      event: ({ type, revision, entry, previous }) =>
        seen.push(`${type} ${entry.name}@${entry.revision} at ${revision} was ${previous?.revision ?? '-'}`),
    });
    await storage.update('/registry/pods/a/one', Buffer.from('{"a":1}'), first);
    await storage.delete('/registry/pods/a/one', first + 1);
    const [updated, deleted] = [first + 1, first + 2];
    await eventually(() =>
      expect(seen).toEqual([
        `MODIFIED one@${updated} at ${updated} was ${first}`,
        `DELETED one@${deleted} at ${deleted} was ${updated}`,
      ]),
    );
  });

  it('answers that a revision is too large when it does not come', async () => {
    await expect(feed.waitFor(99)).rejects.toThrow('Timeout: Too large resource version: 99');
  });
});

describe('a StorageFeed whose storage fails', () => {
  it('asks again ever more seldom, and no more after the signal', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const watches: number[] = [];
    const broken = {
      range: () => Promise.resolve({ revision: 1, items: [], count: 0 }),
      watch: () => {
        watches.push(clock.now());
        throw new Error('storage is closed');
      },
    } as unknown as Storage;
    const feed = new StorageFeed(broken, { clock, logger: silentLogger, signal: stop.signal });
    const start = clock.now();
    await feed.start();
    await clock.advance(3500);
    expect(watches.map((at) => at - start)).toEqual([0, 200, 600, 1400, 3000]);
    stop.abort(new Error('the server stops'));
    await feed.stopped();
    await clock.advance(60_000);
    expect(watches).toHaveLength(5);
  });
});

describe('WrittenObjects', () => {
  const key = '/registry/pods/a/one';
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', uid: 'u' } } as KubeObject;
  const bytes = Buffer.from('{"a":1}');
  const item = { key, value: Buffer.from(bytes), modRevision: 7, createRevision: 7, version: 1 };

  it('has the object of the bytes that are being stored, and only then', async () => {
    const written = new WrittenObjects();
    const seen = await written.during(key, { bytes, object }, () => Promise.resolve(written.storedAs(item)));
    expect(seen?.metadata).toEqual({ name: 'one', uid: 'u', resourceVersion: '7' });
    expect(written.storedAs(item)).toBeUndefined();
  });

  it('does not take one write for another of the same key', async () => {
    const written = new WrittenObjects();
    const other = { ...item, value: Buffer.from('{"a":2}') };
    expect(
      await written.during(key, { bytes, object }, () => Promise.resolve(written.storedAs(other))),
    ).toBeUndefined();
  });
});

describe('prefixOfKey', () => {
  it.each([
    ['/registry/pods/default/a', '/registry/pods/'],
    ['/registry/minions/node-1', '/registry/minions/'],
    ['/registry/services/specs/default/a', '/registry/services/specs/'],
    ['/registry/example.com/widgets/ns/a', '/registry/example.com/widgets/'],
  ])('%s is below %s', (key, prefix) => {
    expect(prefixOfKey(key)).toBe(prefix);
  });
});
