import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { SyncRunner } from './sync-runner';

function setup(sync: () => Promise<void>) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const runner = new SyncRunner({
    sync,
    clock,
    logger: silentLogger,
    signal: stop.signal,
    minIntervalMs: 100,
    maxIntervalMs: 30_000,
  });
  return { clock, stop, runner };
}

describe('SyncRunner', () => {
  it('answers many requests with one sync at once and one after the pause', async () => {
    let syncs = 0;
    const { clock, runner } = setup(async () => void syncs++);
    runner.request();
    runner.request();
    await clock.advance(0);
    expect(syncs).toBe(1);
    runner.request();
    runner.request();
    await clock.advance(99);
    expect(syncs).toBe(1);
    await clock.advance(1);
    expect(syncs).toBe(2);
  });

  it('runs again for a request that came while it ran', async () => {
    let finish: () => void = () => undefined;
    let syncs = 0;
    const { clock, runner } = setup(() => {
      syncs++;
      return new Promise((resolve) => (finish = resolve));
    });
    runner.request();
    await clock.advance(0);
    runner.request();
    await clock.advance(1000);
    expect(syncs).toBe(1);
    finish();
    await clock.advance(100);
    expect(syncs).toBe(2);
  });

  it('tries a failed sync again, and syncs without a request after the longest interval', async () => {
    let syncs = 0;
    const { clock, runner } = setup(async () => {
      if (++syncs === 1) throw new Error('network away');
    });
    runner.request();
    await clock.advance(100);
    expect(syncs).toBe(2);
    await clock.advance(30_000);
    expect(syncs).toBe(3);
  });

  it('leaves no timer behind', async () => {
    const { clock, runner, stop } = setup(async () => undefined);
    runner.request();
    await clock.advance(0);
    expect(clock.timers).toBe(1);
    stop.abort();
    expect(clock.timers).toBe(0);
  });
});
