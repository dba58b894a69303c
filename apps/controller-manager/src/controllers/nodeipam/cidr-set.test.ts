import { CidrSet } from './cidr-set';

it('hands out blocks in order, and a released one again', () => {
  const set = new CidrSet('10.244.0.0/16', 24);
  expect([set.allocate(), set.allocate(), set.allocate()]).toEqual([
    '10.244.0.0/24',
    '10.244.1.0/24',
    '10.244.2.0/24',
  ]);
  set.release('10.244.1.0/24');
  expect(set.allocate()).toBe('10.244.1.0/24');
  expect(set.allocate()).toBe('10.244.3.0/24');
});

it.each([
  ['10.0.0.0/22', 24, ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['10.0.3.77/22', 24, ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['127.123.234.0/30', 30, ['127.123.234.0/30']],
  ['127.123.234.128/31', 32, ['127.123.234.128/32', '127.123.234.129/32']],
  ['fd00:10:244::/63', 64, ['fd00:10:244::/64', 'fd00:10:244:1::/64']],
  [
    '2001:beef:1234:369a::/60',
    62,
    [
      '2001:beef:1234:3690::/62',
      '2001:beef:1234:3694::/62',
      '2001:beef:1234:3698::/62',
      '2001:beef:1234:369c::/62',
    ],
  ],
  ['fd00::/126', 127, ['fd00::/127', 'fd00::2/127']],
])('hands out all of %s in blocks of /%i, and then says so', (range, mask, blocks) => {
  const set = new CidrSet(range, mask);
  expect([...blocks.map(() => set.allocate()), set.allocate()]).toEqual([...blocks, undefined]);
});

it.each([
  ['the block of a node', '10.0.1.0/24', true, ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['a part of a block', '10.0.1.64/28', true, ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['several blocks', '10.0.2.0/23', true, ['10.0.0.0/24', '10.0.1.0/24']],
  ['more than the whole range', '10.0.0.0/8', true, []],
  [
    'a range of others',
    '192.168.0.0/24',
    false,
    ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24'],
  ],
  [
    'a range of the other family',
    'fd00::/64',
    false,
    ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24'],
  ],
  ['nonsense', 'x', false, ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
])('skips what is occupied: %s', (_, occupied, isOfSet, left) => {
  const set = new CidrSet('10.0.0.0/22', 24);
  expect(set.occupy(occupied)).toBe(isOfSet);
  const blocks = [];
  for (let block = set.allocate(); block; block = set.allocate()) blocks.push(block);
  expect(blocks).toEqual(left);
});

it.each([
  ['nonsense', 24],
  ['10.0.0.0', 24],
  ['300.0.0.0/8', 24],
  ['10.0.0.0/28', 24],
  ['10.0.0.0/28', 33],
  ['fd00::/64', 48],
  // Upstream's limit of 16 bits.
  ['fd00::/47', 64],
])('refuses the range %s with blocks of /%i', (range, mask) => {
  expect(() => new CidrSet(range, mask)).toThrow(`--cluster-cidr=${range}`);
});
