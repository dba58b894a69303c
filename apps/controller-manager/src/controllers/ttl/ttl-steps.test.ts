import { stepFor, ttlOf } from './ttl-steps';

describe('stepFor', () => {
  it.each([
    [0, 0, 0],
    [100, 0, 0],
    [101, 0, 15],
    [95, 1, 15],
    [89, 1, 0],
    [1500, 0, 60],
    [5000, 0, 300],
    [1799, 4, 60],
    [10, 4, 0],
  ])('%i nodes after step %i: %i s', (nodes, before, seconds) =>
    expect(ttlOf(stepFor(nodes, before))).toBe(seconds),
  );
});
