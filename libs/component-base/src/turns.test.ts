import { isTurnLong, letOthersRun } from './turns';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Keeps the event loop busy until the turn counts as long. */
const work = () => {
  while (!isTurnLong());
};

describe('letOthersRun', () => {
  it('goes on at once in a young turn', async () => {
    await nextTurn();
    let others = 0;
    setImmediate(() => others++);
    isTurnLong();
    await letOthersRun();
    // A machine that is busy may make even this turn a long one.
    if (!isTurnLong()) expect(others).toBe(0);
  });

  it('waits for another turn when this one was long', async () => {
    await nextTurn();
    let others = 0;
    work();
    setImmediate(() => others++);
    await letOthersRun();
    expect(others).toBe(1);
  });

  it('gives those that wait turns of their own, so that each leaves room for others', async () => {
    await nextTurn();
    let turns = 0;
    let isCounting = true;
    const count = () => {
      turns++;
      if (isCounting) setImmediate(count);
    };
    setImmediate(count);
    work();
    const waiters = Array.from({ length: 3 }, async () => {
      await letOthersRun();
      work();
    });
    await Promise.all(waiters);
    isCounting = false;
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});
