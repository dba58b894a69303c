import type { IPAddress, ServiceCIDR } from '@tinkernetes/api';
import { overlap, wouldLeaveOrphans } from './coverage';

const cidr = (name: string, ...cidrs: string[]): ServiceCIDR => ({ metadata: { name }, spec: { cidrs } });
const address = (name: string, manager = 'ipallocator.k8s.io'): IPAddress =>
  ({
    metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': manager } },
    spec: {},
  }) as unknown as IPAddress;

describe('wouldLeaveOrphans', () => {
  const own = cidr('own', '10.1.0.0/24');
  it.each<[string, ServiceCIDR[], IPAddress[], boolean]>([
    ['no address is in it', [], [address('10.2.0.5')], false],
    ['an address is in it alone', [], [address('10.1.0.5')], true],
    ['the address is in another, too', [cidr('b', '10.1.0.0/29')], [address('10.1.0.5')], false],
    ['it lies in a larger one', [cidr('b', '10.1.0.0/16')], [address('10.1.0.5')], false],
    ['another has the same range', [cidr('b', '10.1.0.0/24')], [address('10.1.0.5')], false],
    ['a smaller one has not that address', [cidr('b', '10.1.0.128/25')], [address('10.1.0.5')], true],
    ['the address is somebody else’s', [], [address('10.1.0.5', 'me')], false],
  ])('%s', (_, others, addresses, expected) =>
    expect(wouldLeaveOrphans(own, { all: [own, ...others], addresses })).toBe(expected),
  );

  it('looks at both families of a range', () => {
    const dual = cidr('dual', '10.1.0.0/24', 'fd00::/112');
    const all = [dual, cidr('b', '10.0.0.0/8')];
    expect(wouldLeaveOrphans(dual, { all, addresses: [address('fd00::7')] })).toBe(true);
  });
});

it('overlap holds where one range lies in the other', () => {
  expect(overlap(cidr('a', '10.1.0.0/24'), cidr('b', '10.1.0.128/25'))).toBe(true);
  expect(overlap(cidr('a', '10.1.0.0/24'), cidr('b', '10.2.0.0/24'))).toBe(false);
});
