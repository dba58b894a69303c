import { estimatedCost, ruleCostLimit } from './rule-cost';

const strings = { type: 'array', items: { type: 'string' } };

describe('estimatedCost', () => {
  it('refuses loops within loops over unbounded lists', () => {
    expect(estimatedCost('self.all(x, self.all(y, x == y))', strings)).toBeGreaterThan(100 * ruleCostLimit);
  });

  it('allows them over bounded lists, and one loop over an unbounded one', () => {
    expect(estimatedCost('self.all(x, self.all(y, x == y))', { ...strings, maxItems: 50 })).toBeLessThan(
      ruleCostLimit,
    );
    expect(estimatedCost("self.all(x, x.startsWith('a'))", strings)).toBeLessThan(ruleCostLimit);
  });

  it('looks up what a loop runs over', () => {
    const schema = { type: 'object', properties: { items: { ...strings, maxItems: 7 } } };
    expect(estimatedCost('self.items.exists(x, x > 1)', schema)).toBe(1 + 7 * 2);
  });
});
