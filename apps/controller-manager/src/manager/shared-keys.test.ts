import { Pods, ReplicaSets } from '@tinkernetes/api';
import { runWorkers } from '@tinkernetes/controller';
import { eventually, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import {
  createInProcessWorkQueues,
  parseRevisions,
  type RateLimitingQueue,
  type WorkItem,
} from '@tinkernetes/workqueue';
import { SharedKeys } from './shared-keys';

describe('SharedKeys', () => {
  const clock = new VirtualClock();
  /** Two replicas on queues of the same process, which stand for those in Redis. */
  const setup = () => {
    const shared = createInProcessWorkQueues({ clock });
    const queues = new Map<string, RateLimitingQueue>();
    const replica = () =>
      new SharedKeys({
        clock,
        queues: {
          create(name) {
            const queue = queues.get(name) ?? shared.create(name);
            queues.set(name, queue);
            return queue;
          },
          close: () => shared.close(),
        },
      });
    return { leader: replica(), follower: replica() };
  };
  const told = (version: string, of: SharedKeys, tell: () => void) =>
    of.around({ descriptor: Pods, resourceVersion: version }, tell);
  const take = async (queue: RateLimitingQueue): Promise<WorkItem> => {
    const item = await queue.get();
    if (!item) throw new Error('the queue is shut down');
    item.done();
    return item;
  };

  it("puts in the leader's keys only, with the version that their worker must have seen", async () => {
    const { leader, follower } = setup();
    const [own, other] = [leader.queues.create('q'), follower.queues.create('q')];
    leader.lead();
    told('7', leader, () => own.add('a/x'));
    told('9', follower, () => other.add('a/y'));
    other.addAfter('a/z', 0);
    expect(own.length).toBe(1);
    expect(await take(other)).toMatchObject({ key: 'a/x', minResourceVersion: 'pods=7' });
  });

  it('puts in what it saw shortly before it became the leader', async () => {
    const { follower } = setup();
    const queue = follower.queues.create('q');
    told('5', follower, () => queue.add('long ago'));
    await clock.advance(11 * 60_000);
    told('6', follower, () => queue.add('before'));
    await clock.advance(6 * 60_000);
    told('7', follower, () => queue.add('now'));
    expect(queue.length).toBe(0);
    follower.lead();
    const items = [await take(queue), await take(queue)];
    expect(items.map((i) => [i.key, i.minResourceVersion])).toEqual([
      ['before', 'pods=6'],
      ['now', 'pods=7'],
    ]);
    expect(queue.length).toBe(0);
  });

  it('has a worker see all changes that brought a key while nobody led', async () => {
    const { follower } = setup();
    const queue = follower.queues.create('q');
    told('5', follower, () => queue.add('a/x'));
    await clock.advance(6 * 60_000);
    follower.around({ descriptor: ReplicaSets, resourceVersion: '7' }, () => queue.add('a/x'));
    queue.addRateLimited('a/x');
    follower.lead();
    const { minResourceVersion } = await take(queue);
    expect(parseRevisions(minResourceVersion ?? '')).toEqual(
      new Map([
        ['pods', 5n],
        ['replicasets.apps', 7n],
      ]),
    );
    expect(queue.length).toBe(0);
  });

  it('puts in what a worker adds, on any replica', async () => {
    const { leader, follower } = setup();
    const [own, queue] = [leader.queues.create('q'), follower.queues.create('q')];
    const done: string[] = [];
    const stop = new AbortController();
    const running = runWorkers({
      ...{ queue, logger: silentLogger, signal: stop.signal },
      reconciler: {
        name: 'test',
        async reconcile(key) {
          if (key === 'first') queue.add('second');
          done.push(key);
        },
      },
    });
    leader.lead();
    own.add('first');
    await eventually(() => expect(done).toEqual(['first', 'second']));
    stop.abort(new Error('test is over'));
    await running;
  });
});
