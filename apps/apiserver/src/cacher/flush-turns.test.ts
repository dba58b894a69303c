import { VirtualClock } from '@tinkernetes/component-base/testing';
import { FlushTurns } from './flush-turns';

/** Watchers whose writes take some milliseconds each of a clock that otherwise stands still. */
function setUp(count: number, { writeMs = 3 } = {}) {
  const virtual = new VirtualClock();
  let spent = 0;
  const written: number[] = [];
  const turns = new FlushTurns({
    monotonic: () => virtual.monotonic() + spent,
    setTimeout: (callback, ms) => virtual.setTimeout(callback, ms),
  });
  const watchers = Array.from({ length: count }, (_, i) => ({
    flush: () => {
      spent += writeMs;
      written.push(i);
    },
  }));
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const advance = (ms: number) => virtual.advance(ms);
  return { turns, watchers, written, nextTurn, advance };
}

describe('FlushTurns', () => {
  it('lets few watchers write at once', () => {
    const { turns, watchers, written } = setUp(3);
    turns.add(watchers);
    expect(written).toEqual([0, 1, 2]);
  });

  it('spreads many over turns of the event loop, in their order', async () => {
    const { turns, watchers, written, nextTurn } = setUp(8);
    turns.add(watchers);
    expect(written).toEqual([0, 1, 2]);
    await nextTurn();
    expect(written).toEqual([0, 1, 2, 3, 4, 5]);
    await nextTurn();
    expect(written).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('lets all write before anybody writes again', async () => {
    const { turns, watchers, written, advance } = setUp(5);
    turns.add(watchers);
    turns.add(watchers);
    expect(written).toEqual([0, 1, 2]);
    await advance(10);
    expect(written).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });

  it('lets a lone event go out at once, also soon after one that cost little', async () => {
    const { turns, watchers, written, advance } = setUp(2, { writeMs: 0.1 });
    turns.add(watchers);
    turns.add(watchers);
    expect(written).toEqual([0, 1, 0, 1]);
    await advance(1000);
    turns.add(watchers);
    expect(written).toEqual([0, 1, 0, 1, 0, 1]);
  });

  it.each([
    { writeMs: 0.5, pause: 4 },
    { writeMs: 3, pause: 10 },
  ])('joins what comes within $pause ms after writes of $writeMs ms each', async ({ writeMs, pause }) => {
    const { turns, watchers, written, advance } = setUp(2, { writeMs });
    turns.add(watchers);
    turns.add(watchers);
    await advance(pause - 1);
    turns.add(watchers);
    expect(written).toEqual([0, 1]);
    await advance(1);
    expect(written).toEqual([0, 1, 0, 1]);
  });

  it('writes at once again when the pause has passed without events', async () => {
    const { turns, watchers, written, advance } = setUp(2);
    turns.add(watchers);
    await advance(10);
    turns.add(watchers);
    expect(written).toEqual([0, 1, 0, 1]);
  });

  it('spreads also those whose sockets have room again, however many tell of it at once', async () => {
    const { turns, watchers, written, nextTurn } = setUp(5);
    for (const watcher of watchers) turns.later(watcher);
    expect(written).toEqual([]);
    await nextTurn();
    expect(written).toEqual([0, 1, 2]);
    await nextTurn();
    expect(written).toEqual([0, 1, 2, 3, 4]);
  });

  it('lets nobody wait longer because others have room again', async () => {
    const { turns, watchers, written, advance } = setUp(4);
    turns.add(watchers.slice(0, 2));
    turns.add(watchers.slice(0, 2));
    for (const watcher of watchers.slice(2)) turns.later(watcher);
    await advance(4);
    expect(written).toEqual([0, 1, 2, 3]);
    await advance(6);
    expect(written).toEqual([0, 1, 2, 3, 0, 1]);
  });

  it('forgets who has ended', async () => {
    const { turns, watchers, written, advance } = setUp(5);
    turns.add(watchers);
    turns.add(watchers);
    for (const watcher of watchers.slice(3)) turns.remove(watcher);
    await advance(10);
    expect(written).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it('goes on after a write that failed', () => {
    const { turns, watchers, written } = setUp(1);
    const failing = {
      flush: () => {
        throw new Error('broken');
      },
    };
    expect(() => turns.add([failing])).toThrow('broken');
    turns.add(watchers);
    expect(written).toEqual([0]);
  });
});
