import {
  isCanonicalCidr,
  isCanonicalIp,
  isValidCidr,
  isValidIp,
  warningsForCidr,
  warningsForIp,
} from './addresses';

describe('addresses', () => {
  it.each([
    ['10.0.0.1', []],
    ['010.0.0.1', ['must not have leading 0s']],
    ['::ffff:1.2.3.4', ['must not be an IPv4-mapped IPv6 address']],
    ['x', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
  ])('are checked as old kinds do: %s', (value, problems) => {
    expect(isValidIp(value)).toEqual(problems);
  });

  it.each([
    ['10.0.0.0/8', []],
    ['10.0.0.1/8', ['must not have bits set beyond the prefix length']],
    ['010.0.0.0/8', ['must not have leading 0s in IP or prefix length']],
    ['10.0.0.0/08', ['must not have leading 0s in IP or prefix length']],
    ['::ffff:1.2.3.0/120', ['must not have an IPv4-mapped IPv6 address']],
  ])('of networks, too: %s', (value, problems) => {
    expect(isValidCidr(value)).toEqual(problems);
  });

  it('must be canonical in new kinds, and are warned of in old ones', () => {
    expect(isCanonicalIp('2001:DB8::1')).toEqual(['must be in canonical form ("2001:db8::1")']);
    expect(isCanonicalCidr('2001:db8:0::/64')).toEqual(['must be in canonical form ("2001:db8::/64")']);
    expect(warningsForIp('a', '2001:DB8::1')).toEqual([
      'a: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ]);
    expect(warningsForIp('a', '010.0.0.1')).toEqual([
      'a: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
    ]);
    expect(warningsForCidr('a', '10.0.0.0/8')).toEqual([]);
  });
});
