import { VirtualClock } from '@tinkernetes/component-base/testing';
import { dealHand, FairQueues } from './fair-queues';
import { PriorityLevel, spareSeats, type Release } from './priority-level';

const queuing = { queues: 8, handSize: 2, queueLengthLimit: 3 };
const never = () => undefined;

describe('dealHand', () => {
  it('deals each flow different queues, the same each time', () => {
    const hand = dealHand('alice', { queues: 128, handSize: 6, queueLengthLimit: 50 });
    expect(new Set(hand).size).toBe(6);
    expect(hand.every((i) => i >= 0 && i < 128)).toBe(true);
    expect(dealHand('alice', { queues: 128, handSize: 6, queueLengthLimit: 50 })).toEqual(hand);
    expect(dealHand('bob', { queues: 128, handSize: 6, queueLengthLimit: 50 })).not.toEqual(hand);
  });
});

describe('FairQueues', () => {
  const card = (flow: string) => dealHand(flow, { ...queuing, handSize: 1 })[0] ?? 0;
  /** Flows whose hands of one card differ, in the order of their queues: where both are due, the first comes first. */
  const [a, b] = ['flow-0', 'flow-1', 'flow-2', 'flow-3', 'flow-4']
    .filter((flow, i, all) => all.findIndex((other) => card(other) === card(flow)) === i)
    .slice(0, 2)
    .sort((x, y) => card(x) - card(y)) as [string, string];
  const takeAll = (queues: FairQueues<{ flow: string; seats: number }>, ms: (flow: string) => number) => {
    const order: string[] = [];
    for (let taken = queues.take(); taken; taken = queues.take()) {
      order.push(taken.request.flow);
      taken.finished(ms(taken.request.flow));
    }
    return order;
  };

  it('serves flows in turn, however many requests one of them has', () => {
    const queues = new FairQueues({ queues: 8, handSize: 1, queueLengthLimit: 50 });
    for (const flow of [a, a, a, a, b, b]) queues.add({ flow, seats: 1 });
    expect(takeAll(queues, () => 3)).toEqual([a, b, a, b, a, a]);
  });

  it('counts the time that requests take: a flow of long ones comes less often', () => {
    const queues = new FairQueues({ queues: 8, handSize: 1, queueLengthLimit: 50 });
    for (const flow of [a, a, b, b, b, b]) queues.add({ flow, seats: 1 });
    expect(takeAll(queues, (flow) => (flow === a ? 9 : 3)).slice(0, 5)).toEqual([a, b, b, b, a]);
  });

  it('refuses what would make the shortest queue of the hand too long', () => {
    const queues = new FairQueues({ queues: 8, handSize: 2, queueLengthLimit: 3 });
    const results = Array.from({ length: 7 }, () => queues.add({ flow: a, seats: 1 }));
    expect(results).toEqual([true, true, true, true, true, true, false]);
  });
});

describe('PriorityLevel', () => {
  const limited = (more: object = {}) => ({
    type: 'Limited',
    limited: { limitResponse: { type: 'Queue', queuing }, lendablePercent: 50, ...more },
  });
  const create = (seats: number, spec: Parameters<PriorityLevel['configure']>[0] = limited()) => {
    const clock = new VirtualClock();
    const level = new PriorityLevel('test', clock, () => 0);
    level.configure(spec, seats);
    return { clock, level };
  };
  const outcome = (entered: Release | Promise<Release>) =>
    Promise.resolve(entered).then(
      (release) => release,
      (error: { reason: string }) => error.reason,
    );

  it('lets requests through at once while there are seats, then as others end', async () => {
    const { level } = create(2);
    const first = level.enter('a', 1, never) as Release;
    expect(typeof level.enter('a', 1, never)).toBe('function');
    const third = level.enter('b', 1, never);
    expect(level.waiting).toBe(1);
    first();
    first();
    expect(typeof (await third)).toBe('function');
    expect([level.executing, level.executingSeats, level.waiting]).toEqual([2, 2, 0]);
  });

  it('lets one that takes more seats than there are run alone', async () => {
    const { level } = create(2);
    const small = level.enter('a', 1, never) as Release;
    const big = level.enter('a', 9, never);
    small();
    ((await big) as Release)();
    expect(level.executingSeats).toBe(0);
  });

  it('turns away who waits too long, and forgets who has gone', async () => {
    const { level, clock } = create(1);
    const running = level.enter('a', 1, never) as Release;
    const late = outcome(level.enter('a', 1, never));
    let goAway: () => void = never;
    const gone = outcome(level.enter('b', 1, (onGone) => (goAway = onGone)));
    goAway();
    await clock.advance(15_000);
    expect(await late).toBe('time-out');
    expect(await gone).toBe('cancelled');
    expect(level.waiting).toBe(0);
    running();
  });

  it('turns away at once where nothing may wait', () => {
    const { level } = create(1, { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } });
    expect(typeof level.enter('a', 1, never)).toBe('function');
    expect(() => level.enter('a', 1, never)).toThrow('concurrency-limit');
  });

  it('has no limit where it is exempt', () => {
    const { level } = create(0, { type: 'Exempt' });
    for (let i = 0; i < 1000; i++) expect(typeof level.enter('a', 1, never)).toBe('function');
  });

  it('borrows what others lend and do not use', () => {
    const clock = new VirtualClock();
    const levels: PriorityLevel[] = [];
    const spare = (level: PriorityLevel) => spareSeats(levels, level);
    const [busy, idle] = ['busy', 'idle'].map((name) => new PriorityLevel(name, clock, spare)) as [
      PriorityLevel,
      PriorityLevel,
    ];
    levels.push(busy, idle);
    busy.configure(limited({ lendablePercent: 0 }), 2);
    idle.configure(limited(), 4);
    const starts = () => typeof busy.enter('a', 1, never) === 'function';
    expect([starts(), starts(), starts(), starts(), starts()]).toEqual([true, true, true, true, false]);
    busy.configure(limited({ borrowingLimitPercent: 0 }), 2);
    expect(busy.borrowableSeats).toBe(0);
  });
});
