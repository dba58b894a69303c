import { FlushTurns } from './flush-turns';

/** A clock that goes on by three milliseconds whenever one of the watchers writes. */
function setUp(count: number) {
  let now = 0;
  const written: number[] = [];
  const turns = new FlushTurns({ monotonic: () => now });
  const watchers = Array.from({ length: count }, (_, i) => ({
    flush: () => {
      now += 3;
      written.push(i);
    },
  }));
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  return { turns, watchers, written, nextTurn };
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

  it('lets who has waited since an earlier batch write first, once for both', async () => {
    const { turns, watchers, written, nextTurn } = setUp(5);
    turns.add(watchers);
    turns.add(watchers);
    expect(written).toEqual([0, 1, 2]);
    await nextTurn();
    await nextTurn();
    expect(written).toEqual([0, 1, 2, 3, 4, 0, 1, 2]);
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

  it('forgets who has ended', async () => {
    const { turns, watchers, written, nextTurn } = setUp(5);
    turns.add(watchers);
    for (const watcher of watchers.slice(3)) turns.remove(watcher);
    await nextTurn();
    expect(written).toEqual([0, 1, 2]);
  });
});
