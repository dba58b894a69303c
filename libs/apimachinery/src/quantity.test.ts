import fc from 'fast-check';
import { Quantity } from './quantity';

describe('Quantity', () => {
  it.each([
    ['1500m', '1500m'],
    ['1.5', '1500m'],
    ['1000m', '1'],
    ['0.25', '250m'],
    ['1.5Gi', '1536Mi'],
    ['0.5Gi', '512Mi'],
    ['65536Ki', '64Mi'],
    ['2048Mi', '2Gi'],
    ['128974848', '128974848'],
    ['1500M', '1500M'],
    ['1e9', '1e9'],
    ['1E3', '1e3'],
    ['100Ki', '100Ki'],
    ['0', '0'],
    ['-1.5Ki', '-1536'],
    ['.5', '500m'],
    ['0.0000000001', '1n'],
    ['0.1Ki', '102400m'],
    [7, '7'],
  ])('writes %s as %s', (input, canonical) => {
    expect(Quantity.parse(input).toString()).toBe(canonical);
  });

  it.each(['', 'abc', '1e3Mi', '1.2.3', '--1', '1 Gi', '1GiB', 'Mi', '1e', '__proto__'])(
    'refuses %j',
    (input) => {
      expect(() => Quantity.parse(input)).toThrow();
      expect(Quantity.tryParse(input)).toBeUndefined();
    },
  );

  it('rounds values up, whole units and thousandths', () => {
    expect(Quantity.parse('1001m').value()).toBe(2);
    expect(Quantity.parse('0.0015').milliValue()).toBe(2);
    expect(Quantity.parse('-1001m').value()).toBe(-2);
  });

  it('takes the other’s format when zero is the first summand', () => {
    expect(Quantity.zero.add(Quantity.parse('1Gi')).toString()).toBe('1Gi');
    expect(Quantity.parse('1Gi').add(Quantity.parse('1G')).toString()).toBe('2073741824');
  });

  it('caps what is larger than an int64', () => {
    expect(Quantity.parse('1e30').value()).toBe(Number((1n << 63n) - 1n));
  });

  const texts = fc
    .tuple(
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3'),
    )
    .map(([number, suffix]) => `${number}${suffix}`);

  it('keeps the value when the canonical form is read again', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const quantity = Quantity.parse(text);
        const again = Quantity.parse(quantity.toString());
        return again.equals(quantity) && again.toString() === quantity.toString();
      }),
    );
  });

  it('subtracts what it adds', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const [left, right] = [Quantity.parse(a), Quantity.parse(b)];
        return left.add(right).sub(right).equals(left) && left.compare(right) === -right.compare(left) + 0;
      }),
    );
  });
});
