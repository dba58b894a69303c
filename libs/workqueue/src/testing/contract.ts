import { realClock } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import type { RateLimitingQueue, WorkItem, WorkQueueFactory } from '../types';

export interface WorkQueueContractOptions {
  /** A factory of its own for each test. */
  create(): Promise<WorkQueueFactory> | WorkQueueFactory;
  /** Tests that this driver can't pass, with the reason. */
  skip?: readonly { test: string; reason: string }[];
}

/** client-go's work queue rules, which every driver must keep. Source: k8s.io/client-go/util/workqueue. */
export function workQueueContract({ create, skip = [] }: WorkQueueContractOptions): void {
  const rule = (name: string, test: () => Promise<void>) => {
    const skipped = skip.find((s) => s.test === name);
    if (skipped) it.skip(`${name} (${skipped.reason})`, test);
    else it(name, test);
  };
  let factory: WorkQueueFactory;
  let queue: RateLimitingQueue;

  beforeEach(async () => {
    factory = await create();
    queue = factory.create('contract');
  });
  afterEach(() => factory.close());

  const take = async (): Promise<WorkItem> => {
    const item = await queue.get();
    if (!item) throw new Error('the queue is shut down');
    return item;
  };
  /** Whether a `get` is answered within a moment; what it gets is returned undone. */
  const takeSoon = async (getting: Promise<WorkItem | undefined>, ms = 150): Promise<WorkItem | undefined> =>
    Promise.race([getting, realClock.sleep(ms).then(() => undefined)]);

  rule('hands keys out in the order in which they came', async () => {
    for (const key of ['a', 'b', 'c']) queue.add(key);
    const keys = [];
    for (let i = 0; i < 3; i++) {
      const item = await take();
      keys.push(item.key);
      item.done();
    }
    expect(keys).toEqual(['a', 'b', 'c']);
  });

  rule('keeps a key that waits only once', async () => {
    for (let i = 0; i < 5; i++) queue.add('a');
    queue.add('b');
    // A distributed queue hears of an add a little later.
    await eventually(() => expect(queue.length).toBe(2));
    const first = await take();
    first.done();
    const second = await take();
    second.done();
    expect([first.key, second.key]).toEqual(['a', 'b']);
    expect(await takeSoon(queue.get())).toBeUndefined();
  });

  rule(
    'never hands a key out while it runs, and once more afterwards when it was added meanwhile',
    async () => {
      queue.add('a');
      const first = await take();
      queue.add('a');
      queue.add('a');
      const getting = queue.get();
      expect(await takeSoon(getting)).toBeUndefined();
      first.done();
      const again = await getting;
      expect(again?.key).toBe('a');
      again?.done();
      expect(await takeSoon(queue.get())).toBeUndefined();
    },
  );

  rule('runs different keys at once', async () => {
    queue.add('a');
    queue.add('b');
    const items = await Promise.all([take(), take()]);
    expect(items.map((i) => i.key).sort()).toEqual(['a', 'b']);
    for (const item of items) item.done();
  });

  rule('answers a get that waits as soon as a key comes', async () => {
    const getting = queue.get();
    queue.add('a');
    const item = await getting;
    expect(item?.key).toBe('a');
    item?.done();
  });

  rule('adds after a delay, not before', async () => {
    const started = performance.now();
    queue.addAfter('a', 200);
    const item = await take();
    expect(performance.now() - started).toBeGreaterThanOrEqual(190);
    item.done();
  });

  rule('keeps the earlier of two delays', async () => {
    queue.addAfter('a', 60_000);
    queue.addAfter('a', 100);
    const item = await take();
    item.done();
    queue.addAfter('b', 100);
    queue.addAfter('b', 60_000);
    const other = await take();
    expect(other.key).toBe('b');
    other.done();
  });

  rule('backs off longer with each failure of a key, until it is forgotten', async () => {
    for (let i = 0; i < 4; i++) {
      queue.addRateLimited('a');
      (await take()).done();
    }
    expect(queue.numRequeues('a')).toBe(4);
    expect(queue.numRequeues('b')).toBe(0);
    queue.forget('a');
    expect(queue.numRequeues('a')).toBe(0);
  });

  rule("tells a key's next run what the last one wrote, and only that one", async () => {
    queue.add('a');
    const first = await take();
    expect(first.minResourceVersion).toBeUndefined();
    queue.add('a');
    first.done({ wroteResourceVersion: 'pods=42' });
    const second = await take();
    expect(second.minResourceVersion).toBe('pods=42');
    second.done();
    queue.add('a');
    const third = await take();
    expect(third.minResourceVersion).toBeUndefined();
    third.done();
  });

  rule(
    'tells a run what the changes were for which its key was added, the newest of each resource',
    async () => {
      queue.add('a', 'pods=7');
      queue.add('a', 'pods=5,jobs.batch=3');
      const first = await take();
      expect(first.minResourceVersion?.split(',').sort()).toEqual(['jobs.batch=3', 'pods=7']);
      queue.add('a', 'pods=9');
      first.done({ wroteResourceVersion: 'pods=8,nodes=1' });
      const second = await take();
      expect(second.minResourceVersion?.split(',')).toEqual(expect.arrayContaining(['pods=9', 'nodes=1']));
      second.done();
      queue.addAfter('b', 20, 'pods=11');
      const third = await take();
      expect([third.key, third.minResourceVersion]).toEqual(['b', 'pods=11']);
      third.done();
    },
  );

  rule('does not abort the signal of a run that keeps its key', async () => {
    queue.add('a');
    const item = await take();
    await realClock.sleep(50);
    expect(item.signal.aborted).toBe(false);
    expect([item.isHeld(), item.isTakenOver]).toEqual([true, false]);
    item.done();
  });

  rule('counts what waits', async () => {
    queue.add('a');
    queue.add('b');
    await eventually(() => expect(queue.length).toBe(2));
    const item = await take();
    await eventually(() => expect(queue.length).toBe(1));
    item.done();
  });

  rule('shuts down: no more adds, waiting gets end, and it waits for what runs', async () => {
    queue.add('a');
    const item = await take();
    const waiting = queue.get();
    let down = false;
    const shuttingDown = queue.shutDown().then(() => (down = true));
    expect(await waiting).toBeUndefined();
    queue.add('b');
    await realClock.sleep(30);
    expect(down).toBe(false);
    item.done();
    await shuttingDown;
    expect(await queue.get()).toBeUndefined();
  });

  rule('keeps queues of different names apart', async () => {
    const other = factory.create('other');
    other.add('x');
    expect(await takeSoon(queue.get())).toBeUndefined();
    const item = await other.get();
    expect(item?.key).toBe('x');
    item?.done();
  });
}
