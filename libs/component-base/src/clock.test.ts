import { formatMicroTime, formatTime, realClock } from './clock';
import { VirtualClock } from './testing';

describe('realClock', () => {
  it('does not fire a timer at once that is longer than Node can hold', async () => {
    let fired = false;
    const timer = realClock.setTimeout(() => (fired = true), 40 * 24 * 3_600_000);
    await realClock.sleep(20);
    timer.cancel();
    expect(fired).toBe(false);
  });

  it('rejects a sleep with the reason of the abort', async () => {
    const reason = new Error('stop');
    const controller = new AbortController();
    const sleeping = realClock.sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    await expect(realClock.sleep(1, controller.signal)).rejects.toBe(reason);
  });
});

describe('VirtualClock', () => {
  it('fires timers in the order of their due time and of their creation', async () => {
    const clock = new VirtualClock(0);
    const fired: string[] = [];
    clock.setTimeout(() => fired.push('late'), 20);
    clock.setTimeout(() => fired.push('first'), 10);
    clock.setTimeout(() => fired.push('second'), 10);
    await clock.advance(15);
    expect(fired).toEqual(['first', 'second']);
    await clock.advance(5);
    expect(fired).toEqual(['first', 'second', 'late']);
    expect(clock.timers).toBe(0);
  });

  it('repeats intervals until they are cancelled', async () => {
    const clock = new VirtualClock(0);
    let ticks = 0;
    const timer = clock.setInterval(() => ticks++, 10);
    await clock.advance(35);
    timer.cancel();
    await clock.advance(100);
    expect(ticks).toBe(3);
  });
});

test.each([
  [formatTime, '2026-01-02T03:04:05Z'],
  [formatMicroTime, '2026-01-02T03:04:05.006000Z'],
])('%p writes times as the API does', (format, text) => {
  expect(format(Date.UTC(2026, 0, 2, 3, 4, 5, 6))).toBe(text);
});
