import type { Node } from '@tinkernetes/api';
import { CidrSet } from './cidr-set';
import { NodeRanges } from './node-ranges';

const node = (name: string, podCIDRs?: string[]): Node => ({
  metadata: { name },
  spec: { podCIDR: podCIDRs?.[0], podCIDRs },
});
const first = ['10.0.0.0/24', 'fd00::/64'];
const second = ['10.0.1.0/24', 'fd00:0:0:1::/64'];
let ranges: NodeRanges;
beforeEach(() => {
  ranges = new NodeRanges([new CidrSet('10.0.0.0/23', 24), new CidrSet('fd00::/62', 64)]);
});

it('reserves a block of each range, the same ones when it is asked again', () => {
  expect([ranges.reserve('a'), ranges.reserve('b'), ranges.reserve('a')]).toEqual([first, second, first]);
});

it('takes none at all when one range is exhausted', () => {
  ranges.reserve('a');
  ranges.reserve('b');
  expect([ranges.reserve('c'), ranges.reserve('c')]).toEqual([undefined, undefined]);
  ranges.release(node('a', first));
  // Both of a's, so no IPv6 block was lost to the failed tries.
  expect(ranges.reserve('c')).toEqual(first);
});

it('frees what a node was given whose update was never seen', () => {
  ranges.reserve('a');
  ranges.release(node('a'));
  expect(ranges.reserve('b')).toEqual(first);
});

it('leaves out what nodes have from before', () => {
  ranges.occupy(node('old', first));
  expect(ranges.reserve('new')).toEqual(second);
});

it('knows a node that names its one range as upstream did before dual stack', () => {
  ranges.occupy({ metadata: { name: 'old' }, spec: { podCIDR: '10.0.0.0/24' } });
  expect(ranges.reserve('new')).toEqual(['10.0.1.0/24', 'fd00::/64']);
});

it('frees what it reserved when somebody else chose', () => {
  ranges.reserve('a');
  ranges.occupy(node('a', second));
  expect(ranges.reserve('b')).toEqual(first);
});

it('leaves alone what is of no range', () => {
  ranges.occupy(node('odd', ['192.168.0.0/24']));
  ranges.release(node('odd', ['192.168.0.0/24']));
  expect(ranges.reserve('a')).toEqual(first);
});
