import { ConfigMaps } from '@tinkernetes/api';
import { eventually, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { createInProcessWorkQueues, type RateLimitingQueue } from '@tinkernetes/workqueue';
import { TestClient } from './test-client';
import { TerminalError, type ReconcileResult } from './types';
import { runWorkers } from './workers';
import { KeyLostError, trackWrites } from './write-tracking';

describe('runWorkers', () => {
  let clock: VirtualClock;
  let queue: RateLimitingQueue;
  let stop: AbortController;
  let stopped: Promise<void>;
  beforeEach(() => {
    clock = new VirtualClock();
    queue = createInProcessWorkQueues({ clock }).create('test');
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort(new Error('stopped'));
    await stopped;
    expect(clock.timers).toBe(0);
  });

  const run = (
    reconcile: (key: string, options: { signal: AbortSignal }) => Promise<ReconcileResult | void>,
    extra: { caughtUp?: (version: string) => Promise<void>; concurrency?: number } = {},
  ) => {
    stopped = runWorkers({
      queue,
      reconciler: { name: 'test', reconcile },
      logger: silentLogger,
      signal: stop.signal,
      ...extra,
    });
  };

  it('tries a failed key again with back-off, and forgets the back-off when it succeeds', async () => {
    let tries = 0;
    run(async () => {
      if (++tries < 3) throw new Error('not yet');
    });
    queue.add('a');
    await clock.advance(5);
    expect(tries).toBe(2);
    expect(queue.numRequeues('a')).toBe(2);
    await clock.advance(10);
    expect(tries).toBe(3);
    expect(queue.numRequeues('a')).toBe(0);
  });

  it('goes on with other keys while one fails again and again', async () => {
    const done: string[] = [];
    run(async (key) => {
      if (key === 'bad') throw new TypeError('cannot read properties of undefined');
      done.push(key);
    });
    for (const key of ['a', 'bad', 'b']) queue.add(key);
    await clock.advance(1000);
    queue.add('c');
    await clock.advance(0);
    expect(done).toEqual(['a', 'b', 'c']);
    expect(queue.numRequeues('bad')).toBeGreaterThan(3);
  });

  it('drops a key that failed for good', async () => {
    let tries = 0;
    run(async () => {
      tries++;
      throw new TerminalError('spec is nonsense');
    });
    queue.add('a');
    await clock.advance(60_000);
    expect(tries).toBe(1);
  });

  it('runs a key again when it asks for it', async () => {
    const times: number[] = [];
    run(async () => {
      times.push(clock.monotonic());
      return times.length < 3 ? { requeueAfterMs: 1000 } : undefined;
    });
    queue.add('a');
    await clock.advance(10_000);
    expect(times).toEqual([0, 1000, 2000]);
  });

  it('runs as many keys at once as it may', async () => {
    let running = 0;
    let most = 0;
    run(
      async () => {
        most = Math.max(most, ++running);
        await clock.sleep(10);
        running--;
      },
      { concurrency: 3 },
    );
    for (let i = 0; i < 10; i++) queue.add(String(i));
    await clock.advance(100);
    expect([most, running]).toEqual([3, 0]);
  });

  it('tells what runs to stop, waits for it, and starts nothing more', async () => {
    const started: string[] = [];
    const told: boolean[] = [];
    run(
      async (key, { signal }) => {
        started.push(key);
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        told.push(signal.aborted);
      },
      { concurrency: 1 },
    );
    queue.add('a');
    queue.add('b');
    await eventually(() => expect(started).toEqual(['a']));
    stop.abort(new Error('stopped'));
    await stopped;
    expect([started, told]).toEqual([['a'], [true]]);
  });

  it('waits until the caches have what the last run of the key wrote', async () => {
    const server = new TestClient();
    const configMaps = trackWrites(server.client).for(ConfigMaps);
    const waited: string[] = [];
    let runs = 0;
    run(
      async (key) => {
        runs++;
        if (runs > 1) return;
        await configMaps.create({ metadata: { name: `${key}-1` } });
        await configMaps.create({ metadata: { name: `${key}-2` } });
        queue.add(key);
      },
      { caughtUp: async (version) => void waited.push(version) },
    );
    queue.add('a');
    await eventually(() => expect(runs).toBe(2));
    expect(waited).toEqual(['configmaps=2']);
  });

  it('writes nothing more for a key that was lost, and leaves what comes next to its new worker', async () => {
    let isHeld = true;
    const lost = new AbortController();
    const inner = queue;
    queue = {
      ...inner,
      length: 0,
      add: (key) => inner.add(key),
      addRateLimited: (key) => inner.addRateLimited(key),
      shutDown: () => inner.shutDown(),
      get: async () => {
        const item = await inner.get();
        return item && { ...item, isHeld: () => isHeld, signal: lost.signal };
      },
    };
    const client = new TestClient();
    const tracked = trackWrites(client.client);
    const errors: unknown[] = [];
    run(async () => {
      isHeld = false;
      await tracked
        .for(ConfigMaps)
        .create({ metadata: { name: 'a' } })
        .catch((error: unknown) => {
          errors.push(error);
          throw error;
        });
    });
    queue.add('a');
    await eventually(() => expect(errors).toHaveLength(1));
    expect(errors[0]).toBeInstanceOf(KeyLostError);
    await clock.advance(60_000);
    expect(errors).toHaveLength(1);
  });
});
