import { realRandom } from './random';

describe('realRandom', () => {
  it.each([1, 8, 16, 4096, 5000])('gives %i bytes as hex', (bytes) => {
    expect(realRandom.hex(bytes)).toMatch(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
  });

  it('never gives the same bytes again', () => {
    const given = Array.from({ length: 2000 }, () => realRandom.hex(16));
    expect(new Set(given).size).toBe(given.length);
  });
});
