import { mergeRanges } from './address-ranges';

describe('mergeRanges', () => {
  it.each<[string, string[], string[]]>([
    ['one range', ['10.244.1.0/24'], ['10.244.1.0/24']],
    ['two halves', ['10.244.1.0/24', '10.244.0.0/24'], ['10.244.0.0/23']],
    [
      'neighbours that are no halves of one range',
      ['10.244.1.0/24', '10.244.2.0/24'],
      ['10.244.1.0/24', '10.244.2.0/24'],
    ],
    ['the same range twice', ['10.244.1.0/24', '10.244.1.0/24'], ['10.244.1.0/24']],
    ['halves of different sizes', ['10.0.0.0/25', '10.0.0.128/26', '10.0.0.192/26'], ['10.0.0.0/24']],
    ['addresses above half of all', ['192.168.0.0/25', '192.168.0.128/25'], ['192.168.0.0/24']],
    ['what is no IPv4 range', ['fd00::/64', '10.0.0.0/24', 'fd00::/64'], ['10.0.0.0/24', 'fd00::/64']],
    ['none', [], []],
  ])('writes %s as few ranges', (_, given, merged) => {
    expect(mergeRanges(given)).toEqual(merged);
  });

  it('writes the ranges of a thousand nodes as a handful, with the same addresses', () => {
    const ranges = Array.from({ length: 1000 }, (_, i) => `10.244.${i >> 2}.${(i & 3) * 64}/26`);
    const merged = mergeRanges(ranges);
    const size = (cidr: string) => 2 ** (32 - Number(cidr.split('/')[1]));
    expect(merged.length).toBeLessThan(10);
    expect(merged.reduce((sum, cidr) => sum + size(cidr), 0)).toBe(1000 * 64);
  });
});
