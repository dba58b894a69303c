import { ConfigMaps, type ConfigMap } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { eventually, SeededRandom, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { createSharedInformerFactory } from './factory';
import { configMap, ScriptedResource } from './scripted-resource';
import type { SharedInformer, SharedInformerFactory } from './types';

const expired = () => new StatusError('Expired', 'too old resource version');
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('SharedInformer', () => {
  let resource: ScriptedResource;
  let clock: VirtualClock;
  let stop: AbortController;
  let factory: SharedInformerFactory;
  let informer: SharedInformer<ConfigMap>;
  let seen: string[];

  beforeEach(() => {
    resource = new ScriptedResource();
    clock = new VirtualClock();
    stop = new AbortController();
    seen = [];
    const client = { for: () => resource.client } as unknown as Client;
    factory = createSharedInformerFactory({
      client,
      clock,
      random: new SeededRandom(),
      logger: silentLogger,
      signal: stop.signal,
    });
    informer = factory.for(ConfigMaps);
    informer.addEventHandler({
      added: (o, initial) => seen.push(`added ${o.metadata.name}${initial ? ' (initial)' : ''}`),
      updated: (old, o) => seen.push(`updated ${o.metadata.name} ${old.data?.v}→${o.data?.v}`),
      deleted: (o) => seen.push(`deleted ${o.metadata.name}`),
    });
  });
  afterEach(async () => {
    stop.abort(new Error('test over'));
    await factory.stopped();
    expect(clock.timers).toBe(0);
  });

  const start = async () => {
    factory.start();
    await factory.waitForSync();
  };

  it('takes what is there from the cache of the server, and what happens, in one watch', async () => {
    resource.answers = [[configMap('a', 1, { v: '1' })]];
    resource.version = 5;
    await start();
    resource.send(
      { event: { type: 'MODIFIED', object: configMap('a', 6, { v: '2' }) } },
      { event: { type: 'ADDED', object: configMap('b', 7) } },
      { event: { type: 'DELETED', object: configMap('a', 8, { v: '2' }) } },
    );
    await eventually(() => expect(seen).toHaveLength(4));
    expect(seen).toEqual(['added a (initial)', 'updated a 1→2', 'added b', 'deleted a']);
    expect(resource.streams).toMatchObject([{ resourceVersion: '0', allowWatchBookmarks: true }]);
    expect(resource.streams[0]?.timeoutSeconds).toBeGreaterThanOrEqual(300);
    expect(resource.streams[0]?.timeoutSeconds).toBeLessThan(600);
    expect([resource.lists.length, resource.watches.length]).toEqual([0, 0]);
    expect(informer.lister.list().map((o) => o.metadata.name)).toEqual(['b']);
    expect(informer.lastSyncResourceVersion).toBe('8');
  });

  it.each(['BadRequest', 'Invalid'] as const)(
    'lists, then watches, where the server answers a watch for what is there with %s',
    async (reason) => {
      resource.refusal = new StatusError(reason, 'sendInitialEvents is forbidden for watch');
      resource.answers = [[configMap('a', 1)]];
      resource.version = 5;
      await start();
      await eventually(() => expect(resource.watches.length).toBe(1));
      expect(seen).toEqual(['added a (initial)']);
      expect(resource.lists).toMatchObject([{ resourceVersion: '0' }]);
      expect(resource.watches[0]?.resourceVersion).toBe('5');
      resource.answers = [[configMap('a', 1)]];
      resource.send({ event: { type: 'ERROR', object: expired().toStatus() } });
      await eventually(() => expect(resource.watches.length).toBe(2));
      expect([resource.lists.length, resource.streams.length]).toEqual([2, 1]);
    },
  );

  it('lists, then watches, where the server does not know that it was to tell the end of what is there', async () => {
    resource.ignoresInitialEvents = true;
    resource.answers = [[configMap('a', 1)]];
    resource.version = 5;
    factory.start();
    await clock.advance(20_000);
    // As old servers send at once what they have in their cache.
    resource.send({ event: { type: 'ADDED', object: configMap('old', 1) } });
    await clock.advance(30_000);
    expect([resource.streams.length, resource.lists.length]).toEqual([1, 0]);
    await clock.advance(40_000);
    await factory.waitForSync();
    await eventually(() => expect(resource.watches.length).toBe(1));
    expect(seen).toEqual(['added a (initial)']);
    expect([resource.lists.length, resource.watches[0]?.resourceVersion]).toEqual([1, '5']);
  });

  it('asks again when a watch ends before it has sent all that was there', async () => {
    resource.answers = [refused(), [configMap('a', 1)]];
    factory.start();
    await clock.advance(200);
    await factory.waitForSync();
    expect(seen).toEqual(['added a (initial)']);
    expect(resource.streams).toHaveLength(2);
  });

  it('tells handlers of all objects once more when it is asked to, as in an initial list', async () => {
    resource.answers = [[configMap('a', 1), configMap('b', 2)]];
    await start();
    seen.length = 0;
    await factory.replay();
    expect(seen).toEqual(['added a (initial)', 'added b (initial)']);
  });

  it('says around each notification what it is about, and at which version', async () => {
    const changes: string[] = [];
    const client = { for: () => resource.client } as unknown as Client;
    const announced = createSharedInformerFactory({
      ...{ client, clock, random: new SeededRandom(), logger: silentLogger, signal: stop.signal },
      around: ({ descriptor, resourceVersion }, notify) => {
        changes.push(`${descriptor.resource} ${resourceVersion}`);
        notify();
      },
    });
    const told: string[] = [];
    announced
      .for(ConfigMaps)
      .addEventHandler({ added: (o) => told.push(o.metadata.name), deleted: () => told.push('-') });
    resource.answers = [[configMap('a', 1)]];
    resource.version = 5;
    announced.start();
    await announced.waitForSync();
    resource.send({ event: { type: 'DELETED', object: configMap('a', 8) } });
    await eventually(() => expect(told).toEqual(['a', '-']));
    expect(changes).toEqual(['configmaps 1', 'configmaps 8']);
    stop.abort(new Error('test over'));
    await announced.stopped();
  });

  it('resumes a watch that ended from the last event or bookmark, without a list', async () => {
    await start();
    resource.send(
      { event: { type: 'BOOKMARK', object: { metadata: { resourceVersion: '20' } } } },
      { end: true },
    );
    await eventually(() => expect(resource.watches.length).toBe(1));
    expect(resource.watches[0]?.resourceVersion).toBe('20');
    expect(resource.streams).toHaveLength(1);
  });

  it('resumes a watch that broke', async () => {
    await start();
    resource.send({ event: { type: 'ADDED', object: configMap('a', 3) } }, { error: refused() });
    await eventually(() => expect(resource.watches.length).toBe(1));
    expect(resource.watches[0]?.resourceVersion).toBe('3');
    expect(resource.streams).toHaveLength(1);
  });

  it('lists again when the version is too old, and tells what changed meanwhile', async () => {
    resource.answers = [[configMap('a', 1, { v: '1' }), configMap('b', 1), configMap('c', 1)], []];
    await start();
    seen.length = 0;
    resource.version = 50;
    resource.answers = [[configMap('a', 40, { v: '9' }), configMap('c', 1), configMap('d', 41)]];
    resource.send({ event: { type: 'ERROR', object: expired().toStatus() } });
    await eventually(() => expect(seen).toEqual(['updated a 1→9', 'added d', 'deleted b']));
    expect(resource.streams[1]?.resourceVersion).toBeUndefined();
    expect(informer.lastSyncResourceVersion).toBe('50');
  });

  it('waits longer and longer while the server is away, and comes back by itself', async () => {
    resource.answers = [refused(), refused(), refused(), [configMap('a', 1)]];
    factory.start();
    await clock.advance(0);
    expect(resource.streams).toHaveLength(1);
    await clock.advance(200);
    expect(resource.streams).toHaveLength(2);
    await clock.advance(100);
    expect(resource.streams).toHaveLength(2);
    await clock.advance(2000);
    await factory.waitForSync();
    expect(informer.hasSynced).toBe(true);
  });

  it('does not ask without pause for a watch that ends at once', async () => {
    await start();
    resource.send({ end: true });
    await clock.advance(50);
    expect(resource.watches).toHaveLength(0);
    await clock.advance(200);
    expect(resource.watches).toHaveLength(1);
  });

  it('gives a late handler what is in the cache, and stops when it is removed', async () => {
    resource.answers = [[configMap('a', 1)]];
    await start();
    const late: string[] = [];
    const remove = informer.addEventHandler({
      added: (o, initial) => late.push(`${o.metadata.name} ${initial}`),
    });
    expect(late).toEqual(['a true']);
    resource.send({ event: { type: 'ADDED', object: configMap('b', 2) } });
    await eventually(() => expect(late).toEqual(['a true', 'b false']));
    remove();
    resource.send({ event: { type: 'ADDED', object: configMap('c', 3) } });
    await eventually(() => expect(seen).toContain('added c'));
    expect(late).toHaveLength(2);
  });

  it('tells a handler that comes while the cache is being filled of each object once', async () => {
    resource.answers = [Array.from({ length: 500 }, (_, i) => configMap(`c-${i}`, 1))];
    const names: string[] = [];
    const filling = factory.for(ConfigMaps, { namespace: 'slow' });
    let registered = false;
    // An index is asked for each object that is put into the cache.
    filling.addIndex('any', () => {
      if (!registered) filling.addEventHandler({ added: (o) => names.push(o.metadata.name) });
      registered = true;
      return [];
    });
    await start();
    expect(names.length).toBe(500);
    expect(new Set(names).size).toBe(500);
  });

  it('goes on when a handler throws', async () => {
    informer.addEventHandler({
      added: () => {
        throw new Error('broken handler');
      },
    });
    resource.answers = [[configMap('a', 1)]];
    await start();
    resource.send({ event: { type: 'ADDED', object: configMap('b', 2) } });
    await eventually(() => expect(seen).toContain('added b'));
  });

  it('shares one informer for a resource, and freezes what it shares', async () => {
    resource.answers = [[configMap('a', 1, { v: '1' })]];
    expect(factory.for(ConfigMaps)).toBe(informer);
    expect(factory.for(ConfigMaps, { namespace: 'kube-system' })).not.toBe(informer);
    factory.start();
    await informer.waitForSync();
    const [object] = informer.lister.list();
    expect(() => Object.assign(object?.data ?? {}, { v: '2' })).toThrow(TypeError);
  });

  it('keeps no managedFields', async () => {
    const object = configMap('a', 1);
    object.metadata.managedFields = [{ manager: 'kubectl', operation: 'Update' }];
    resource.answers = [[object]];
    await start();
    expect(informer.lister.get('a', 'default')?.metadata).not.toHaveProperty('managedFields');
  });

  it('takes no index once it runs', async () => {
    await start();
    expect(() => informer.addIndex('late', () => [])).toThrow('running');
  });

  it('rejects whoever waits for a sync that will not come', async () => {
    resource.answers = [refused()];
    factory.start();
    const waiting = factory.waitForSync();
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});
