import { VirtualClock } from './testing';
import { TimeoutError, withDeadline } from './deadline';
import { aborted } from './linked-signal';

describe('withDeadline', () => {
  it('tells the work when it is late, and gives what comes of it', async () => {
    const clock = new VirtualClock();
    const outcome = withDeadline(clock, 100, async (late) => {
      await aborted(late);
      return late.reason as unknown;
    });
    await clock.advance(100);
    const reason = await outcome;
    expect(reason).toBeInstanceOf(TimeoutError);
    expect(reason).toMatchObject({ message: 'no answer in 100 ms' });
  });

  it.each([
    ['ends', async () => 1],
    ['fails', () => Promise.reject(new Error('no'))],
  ])('leaves no timer behind when the work %s in time', async (_title, work) => {
    const clock = new VirtualClock();
    let signal: AbortSignal | undefined;
    await Promise.allSettled([
      withDeadline(clock, 100, (late) => {
        signal = late;
        return work();
      }),
    ]);
    await clock.advance(200);
    expect(signal?.aborted).toBe(false);
  });
});
