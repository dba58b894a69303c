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

it('skips blocks that nodes have already', () => {
  const set = new CidrSet('10.0.0.0/22', 24);
  set.occupy('10.0.1.0/24');
  set.occupy('192.168.0.0/24');
  expect([set.allocate(), set.allocate(), set.allocate(), set.allocate()]).toEqual([
    '10.0.0.0/24',
    '10.0.2.0/24',
    '10.0.3.0/24',
    undefined,
  ]);
});

it.each(['nonsense', '10.0.0.0', '300.0.0.0/8', '10.0.0.0/28'])('refuses the range %s', (range) => {
  expect(() => new CidrSet(range, 24)).toThrow();
});
