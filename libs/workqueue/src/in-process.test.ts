import { createMetrics } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { createInProcessWorkQueues } from './in-process';
import { RateLimiter } from './rate-limiter';
import { workQueueContract } from './testing';

describe('in-process work queue', () => {
  workQueueContract({ create: () => createInProcessWorkQueues() });

  it('leaves no timer behind when it is closed', async () => {
    const clock = new VirtualClock();
    const queues = createInProcessWorkQueues({ clock });
    queues.create('a').addAfter('x', 1000);
    expect(clock.timers).toBe(1);
    await queues.close();
    expect(clock.timers).toBe(0);
  });

  it("counts under upstream's metric names", async () => {
    const metrics = createMetrics();
    const queue = createInProcessWorkQueues({ metrics }).create('deployment');
    queue.add('a');
    queue.add('b');
    (await queue.get())?.done();
    const text = await metrics.expose();
    expect(text).toContain('workqueue_adds_total{name="deployment"} 2');
    expect(text).toContain('workqueue_depth{name="deployment"} 1');
    expect(text).toContain('workqueue_work_duration_seconds_count{name="deployment"} 1');
    expect(text).toContain('workqueue_longest_running_processor_seconds{name="deployment"} 0');
  });
});

it('says how long what runs has been running', async () => {
  const metrics = createMetrics();
  const clock = new VirtualClock();
  const queue = createInProcessWorkQueues({ metrics, clock }).create('job');
  for (const key of ['a', 'b']) queue.add(key);
  const first = await queue.get();
  await clock.advance(2000);
  await queue.get();
  await clock.advance(1000);
  const text = await metrics.expose();
  expect(text).toContain('workqueue_longest_running_processor_seconds{name="job"} 3');
  expect(text).toContain('workqueue_unfinished_work_seconds{name="job"} 4');
  first?.done();
  expect(await metrics.expose()).toContain('workqueue_unfinished_work_seconds{name="job"} 1');
});

describe('RateLimiter', () => {
  it('doubles from 5 ms to 1000 s', () => {
    const limiter = new RateLimiter(new VirtualClock(), { burst: 1000 });
    const delays = Array.from({ length: 20 }, () => limiter.when('a'));
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(delays.at(-1)).toBe(1_000_000);
    limiter.forget('a');
    expect(limiter.when('a')).toBe(5);
  });

  it('lets 100 keys through at once, then 10 a second', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter(clock, { baseDelayMs: 0 });
    const delays = Array.from({ length: 103 }, (_, i) => limiter.when(`key-${i}`));
    expect(delays.slice(0, 100)).toEqual(Array(100).fill(0));
    expect(delays.slice(100)).toEqual([100, 200, 300]);
    await clock.advance(1000);
    expect(limiter.when('later')).toBe(0);
  });
});
