import { parseFlags } from '@tinkernetes/component-base';
import { flags } from '../../options';
import { clusterCidrs } from './cluster-cidrs';

const firstBlocks = (...argv: string[]) => clusterCidrs(parseFlags(flags, argv)).map((set) => set.allocate());
const both = '--cluster-cidr=10.1.0.0/16,fd00:1::/56';

it.each<[string, string[], string[]]>([
  ['its default', [], ['10.244.0.0/24']],
  ['/24 of IPv4', ['--cluster-cidr=10.1.0.0/16'], ['10.1.0.0/24']],
  ['/64 of IPv6', ['--cluster-cidr=fd00:1::/56'], ['fd00:1::/64']],
  ['one of both families', [both], ['10.1.0.0/24', 'fd00:1::/64']],
  [
    'them in the order of the flag',
    ['--cluster-cidr=fd00:1::/56,10.1.0.0/16'],
    ['fd00:1::/64', '10.1.0.0/24'],
  ],
  ['--node-cidr-mask-size', ['--node-cidr-mask-size=26'], ['10.244.0.0/26']],
  [
    '--node-cidr-mask-size of IPv6',
    ['--cluster-cidr=fd00:1::/56', '--node-cidr-mask-size=60'],
    ['fd00:1::/60'],
  ],
  ['--node-cidr-mask-size-ipv4', ['--node-cidr-mask-size-ipv4=25'], ['10.244.0.0/25']],
  [
    'a mask for each family',
    [both, '--node-cidr-mask-size-ipv4=26', '--node-cidr-mask-size-ipv6=72'],
    ['10.1.0.0/26', 'fd00:1::/72'],
  ],
  ['a mask for one family only', [both, '--node-cidr-mask-size-ipv6=72'], ['10.1.0.0/24', 'fd00:1::/72']],
  [
    'nothing of Services',
    [both, '--service-cluster-ip-range=10.1.0.0/20,fd00:1::/112'],
    ['10.1.16.0/24', 'fd00:1:0:1::/64'],
  ],
])('gives a node %s', (_, argv, blocks) => {
  expect(firstBlocks(...argv)).toEqual(blocks);
});

it.each<[string[], string]>([
  [['--cluster-cidr=10.1.0.0/16,10.2.0.0/16'], 'one of IPv4 and one of IPv6'],
  [['--cluster-cidr=10.1.0.0/16,fd00::/56,10.2.0.0/16'], 'more than the 2 allowed'],
  [[both, '--node-cidr-mask-size=24'], 'not allowed with dual-stack clusters'],
  [
    ['--node-cidr-mask-size=24', '--node-cidr-mask-size-ipv4=24'],
    'not allowed if --node-cidr-mask-size is set',
  ],
  [['--node-cidr-mask-size-ipv6=64'], 'not allowed for a single-stack IPv4 cluster'],
  [
    ['--cluster-cidr=fd00:1::/56', '--node-cidr-mask-size-ipv4=24'],
    'not allowed for a single-stack IPv6 cluster',
  ],
  [['--cluster-cidr=10.1.0.0/25'], "smaller than one node's range (/24)"],
  [['--cluster-cidr=fd00::/40'], 'must not differ by more than 16 bits'],
  [['--cluster-cidr=x'], 'must be an IPv4 or IPv6 range'],
])('refuses %j', (argv, message) => {
  expect(() => firstBlocks(...argv)).toThrow(message);
});
