import { VirtualClock } from '@tinkernetes/component-base/testing';
import { SchedulerCache } from '../cache/scheduler-cache';
import { makeNode, makePod } from '../testing/objects';
import { AssumedExpiry } from './assumed-expiry';

it('lets a bound Pod that the API never shows go after a quarter of an hour, and no other', async () => {
  const clock = new VirtualClock();
  const cache = new SchedulerCache();
  cache.putNode(makeNode('a'));
  const expired: string[] = [];
  const expiry = new AssumedExpiry({
    cache,
    clock,
    onExpired: ({ metadata }) => expired.push(metadata.name),
  });
  const [lost, shown] = ['lost', 'shown'].map((name) => makePod(name, { node: 'a' })) as [
    ReturnType<typeof makePod>,
    ReturnType<typeof makePod>,
  ];
  for (const pod of [lost, shown]) {
    cache.assume(pod);
    expiry.bound(pod);
  }
  cache.putPod(shown);
  await clock.advance(10 * 60_000);
  const late = makePod('late', { node: 'a' });
  cache.assume(late);
  expiry.bound(late);
  await clock.advance(6 * 60_000);
  expect(expired).toEqual(['lost']);
  expect(cache.podCount).toBe(2);
  await clock.advance(10 * 60_000);
  expect(expired).toEqual(['lost', 'late']);
  expiry.stop();
  expect(clock.timers).toBe(0);
});
