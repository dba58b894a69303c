import type { Pod } from '@tinkernetes/api';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { ClusterEvent, EventHint } from '../framework/cluster-event';
import type { Status } from '../framework/status';
import { makePod } from '../testing/objects';
import type { QueuedPod } from './queued-pod';
import { SchedulingQueue } from './scheduling-queue';

const hints: Record<string, readonly EventHint[]> = {
  Fit: [{ resource: 'AssignedPod', actions: ['Delete'] }],
  Ports: [{ resource: 'AssignedPod', actions: ['Delete'], hint: (pod) => pod.metadata.name === 'helped' }],
};
const podGone: ClusterEvent = { resource: 'AssignedPod', action: 'Delete' };
const nodeCame: ClusterEvent = { resource: 'Node', action: 'Add' };

function setUp({ preEnqueue = () => undefined }: { preEnqueue?: (pod: Pod) => Status | undefined } = {}) {
  const clock = new VirtualClock();
  const priority = ({ pod }: QueuedPod) => pod.spec?.priority ?? 0;
  const queue = new SchedulingQueue({
    clock,
    less: (a, b) => priority(a) > priority(b) || (priority(a) === priority(b) && a.timestamp < b.timestamp),
    preEnqueue,
    hintsOf: (plugin) => hints[plugin],
    initialBackoffMs: 1000,
    maxUnschedulableMs: 300_000,
    maxBackoffMs: 10_000,
  });
  /** The name of the next Pod, or undefined when none can be had now. */
  const next = async (): Promise<QueuedPod | undefined> => {
    const nothing = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
    return queue.counts().active + queue.counts().backoff > 0 ? queue.pop() : nothing;
  };
  const refuse = (queued: QueuedPod | undefined, plugin = 'Fit') => {
    if (!queued) throw new Error('nothing was popped');
    queued.unschedulablePlugins = new Set([plugin]);
    queue.addUnschedulable(queued);
  };
  return { clock, queue, next, refuse };
}
const nameOf = (queued: QueuedPod | undefined) => queued?.pod.metadata.name;

it('gives the more important Pod first, and of equals the one that waits longer', async () => {
  const { clock, queue, next } = setUp();
  queue.add(makePod('first'));
  await clock.advance(1);
  queue.add(makePod('second'));
  queue.add(makePod('vip', { spec: { priority: 10 } }));
  expect([nameOf(await next()), nameOf(await next()), nameOf(await next())]).toEqual([
    'vip',
    'first',
    'second',
  ]);
});

it('wakes only Pods that an event may help', async () => {
  const { queue, next, refuse } = setUp();
  for (const name of ['helped', 'other']) queue.add(makePod(name));
  refuse(await next(), 'Ports');
  refuse(await next(), 'Ports');
  queue.moveAllOn(nodeCame);
  expect(queue.counts()).toMatchObject({ active: 0, backoff: 0, unschedulable: 2 });
  queue.moveAllOn(podGone);
  expect(nameOf(await next())).toBe('helped');
  expect(queue.counts()).toMatchObject({ unschedulable: 1 });
});

it('does not miss an event that came while the Pod was being scheduled', async () => {
  const { queue, next, refuse } = setUp();
  queue.add(makePod('a'));
  const queued = await next();
  queue.moveAllOn(podGone);
  refuse(queued);
  expect(queue.counts()).toMatchObject({ backoff: 1, unschedulable: 0 });
});

it('forgets events that came before the Pod was taken', async () => {
  const { queue, next, refuse } = setUp();
  queue.add(makePod('busy'));
  queue.add(makePod('a'));
  const busy = await next();
  queue.moveAllOn(podGone);
  refuse(await next());
  expect(queue.counts()).toMatchObject({ backoff: 0, unschedulable: 1 });
  queue.done((busy as QueuedPod).pod);
});

it('lets a Pod in back-off go early when there is nothing else to do', async () => {
  const { queue, next, refuse } = setUp();
  queue.add(makePod('a'));
  refuse(await next());
  queue.moveAllOn(podGone);
  queue.add(makePod('b'));
  expect([nameOf(await next()), nameOf(await next())]).toEqual(['b', 'a']);
});

it('backs off 1, 2, 4 … 10 seconds after errors', async () => {
  const { clock, queue } = setUp();
  queue.add(makePod('a'));
  const waits: number[] = [];
  for (let i = 0; i < 6; i++) {
    const popped = queue.pop();
    let queued: QueuedPod | undefined;
    void popped.then((value) => (queued = value));
    const start = clock.now();
    for (let ms = 0; ms < 20_000 && !queued; ms += 500) await clock.advance(queued ? 0 : 500);
    waits.push(clock.now() - start);
    if (!queued) throw new Error('the Pod never came back');
    queued.erred = true;
    queued.unschedulablePlugins = new Set();
    queue.addUnschedulable(queued);
  }
  expect(waits.slice(1)).toEqual([1000, 2000, 4000, 8000, 10_000]);
});

it('tries a Pod again after five minutes without any event', async () => {
  const { clock, queue, next, refuse } = setUp();
  queue.add(makePod('a'));
  refuse(await next());
  await clock.advance(299_000);
  expect(queue.counts()).toMatchObject({ unschedulable: 1 });
  await clock.advance(1_000);
  expect(queue.counts()).toMatchObject({ active: 1, unschedulable: 0 });
});

it('holds Pods back until their gates are gone', async () => {
  const preEnqueue = (pod: Pod): Status | undefined =>
    pod.spec?.schedulingGates?.length
      ? { code: 'UnschedulableAndUnresolvable', reasons: [], plugin: 'Gates' }
      : undefined;
  const { queue, next } = setUp({ preEnqueue });
  const gated = makePod('a', { spec: { schedulingGates: [{ name: 'x' }] } });
  queue.add(gated);
  expect(queue.counts()).toMatchObject({ active: 0, gated: 1 });
  const open = makePod('a');
  queue.update(gated, open, [
    { resource: 'UnscheduledPod', action: 'UpdatePodSchedulingGatesEliminated', after: open },
  ]);
  expect(nameOf(await next())).toBe('a');
});

it('leaves no timer and no waiting caller behind when closed', async () => {
  const { clock, queue, next, refuse } = setUp();
  queue.add(makePod('a'));
  queue.add(makePod('b'));
  refuse(await next());
  refuse(await next());
  queue.moveAllOn(podGone);
  await next();
  await next();
  const waiting = queue.pop();
  queue.close();
  expect(await waiting).toBeUndefined();
  expect(clock.timers).toBe(0);
});
