import { Slices } from './slices';

describe('Slices', () => {
  it('lets the event loop go on after eight milliseconds of work, and loses nothing by it', async () => {
    let now = 0;
    const slices = new Slices({ monotonic: () => now });
    let turns = 0;
    let working = true;
    const others = () => {
      turns++;
      if (working) setImmediate(others);
    };
    setImmediate(others);
    const items = Array.from({ length: 100 }, (_, i) => i);
    const kept = await slices.filter(items, (item) => {
      now += 1;
      return item % 2 === 0;
    });
    working = false;
    expect(kept).toEqual(items.filter((item) => item % 2 === 0));
    // 100 ms of work in slices of nine.
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});
