import { ConfigMaps, Pods, ReplicaSets, type KubeObject } from '@tinkernetes/api';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { EventHandler, SharedInformer } from '@tinkernetes/informers';
import type { Client } from '@tinkernetes/client';
import { createCacheBarrier, createServerBarrier } from './cache-barrier';

/** An informer whose progress a test decides. */
class TestInformer {
  lastSyncResourceVersion = '10';
  readonly handlers = new Set<EventHandler<KubeObject>>();
  constructor(readonly descriptor: SharedInformer<KubeObject>['descriptor']) {}

  addEventHandler(handler: EventHandler<KubeObject>): () => void {
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  advance(version: number): void {
    this.lastSyncResourceVersion = String(version);
    const object = { metadata: { name: 'x' } };
    for (const handler of this.handlers) handler.updated?.(object, object);
  }
}

it('createServerBarrier waits for the newest object that the server has in the namespace', async () => {
  const clock = new VirtualClock();
  const [pods, maps] = [new TestInformer(Pods), new TestInformer(ConfigMaps)];
  const asked: unknown[] = [];
  const client = {
    for: ({ resource }: { resource: string }) => ({
      list: (options: unknown) => {
        asked.push([resource, options]);
        const versions = resource === 'pods' ? ['8', '12'] : [];
        return Promise.resolve({
          items: versions.map((resourceVersion) => ({ metadata: { name: 'x', resourceVersion } })),
        });
      },
    }),
  } as unknown as Client;
  const barrier = createServerBarrier([pods, maps] as unknown as SharedInformer<KubeObject>[], {
    client,
    clock,
  });
  let passed = false;
  const { signal } = new AbortController();
  const waiting = barrier('a/web', signal).then(() => void (passed = true));
  await clock.advance(0);
  expect(asked).toContainEqual(['pods', { namespace: 'a', metadataOnly: true, signal }]);
  expect(passed).toBe(false);
  pods.advance(12);
  await waiting;
  expect(clock.timers).toBe(0);
});

describe('createCacheBarrier', () => {
  const setup = () => {
    const clock = new VirtualClock();
    const pods = new TestInformer(Pods);
    const replicaSets = new TestInformer(ReplicaSets);
    const barrier = createCacheBarrier([pods, replicaSets] as unknown as SharedInformer<KubeObject>[], clock);
    const stop = new AbortController();
    let passed = false;
    const wait = (wrote: string) => barrier(wrote, stop.signal).then(() => void (passed = true));
    return { clock, pods, replicaSets, stop, wait, passed: () => passed };
  };

  it('lets a key through whose writes the caches have', async () => {
    const { wait, clock, passed } = setup();
    await wait('pods=10,replicasets.apps=9');
    expect([passed(), clock.timers]).toEqual([true, 0]);
  });

  it('waits for each cache that something was written to, and for no other', async () => {
    const { wait, clock, passed, pods, replicaSets } = setup();
    const waiting = wait('pods=12,services=99,replicasets.apps=11');
    pods.advance(13);
    await clock.advance(0);
    expect(passed()).toBe(false);
    replicaSets.advance(11);
    await waiting;
    expect([pods.handlers.size, replicaSets.handlers.size, clock.timers]).toEqual([0, 0, 0]);
  });

  it('goes on after five seconds', async () => {
    const { wait, clock } = setup();
    const waiting = wait('pods=12');
    await clock.advance(5000);
    await waiting;
  });

  it('ends with the signal', async () => {
    const { wait, clock, stop, pods } = setup();
    const waiting = wait('pods=12');
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    expect([pods.handlers.size, clock.timers]).toEqual([0, 0]);
  });
});
