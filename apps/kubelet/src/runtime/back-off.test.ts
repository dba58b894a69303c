import { VirtualClock } from '@tinkernetes/component-base/testing';
import { BackOff, durationText, preciseDurationText } from './back-off';

describe('BackOff', () => {
  it('doubles from 10 s to 5 min and starts over after 10 min without failure', async () => {
    const clock = new VirtualClock();
    const backOff = new BackOff(clock, 10_000, 300_000);
    const delays: number[] = [];
    for (let i = 0; i < 7; i++) {
      backOff.next('k', clock.now());
      delays.push(backOff.remaining('k', clock.now()));
    }
    expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    await clock.advance(600_001);
    expect(backOff.remaining('k', clock.now())).toBe(0);
    backOff.next('k', clock.now());
    expect(backOff.delay('k')).toBe(10_000);
  });

  it('counts the delay from the failure', async () => {
    const clock = new VirtualClock();
    const backOff = new BackOff(clock, 10_000, 300_000);
    const failedAt = clock.now();
    backOff.next('k', failedAt);
    await clock.advance(4000);
    expect(backOff.remaining('k', failedAt)).toBe(6000);
  });
});

describe('durations', () => {
  it.each([
    [10_000, '10s'],
    [160_000, '2m40s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
  ])('%d ms is %s', (ms, text) => expect(durationText(ms)).toBe(text));

  it.each([
    [12.4, '12ms'],
    [1234.5, '1.234s'],
    [61_500, '1m1.5s'],
  ])('%d ms is precisely %s', (ms, text) => expect(preciseDurationText(ms)).toBe(text));
});
