import type { Node } from '@tinkernetes/api';
import { advertisedResources } from './advertised-resources';

const node = (capacity: Record<string, string>, allocatable: Record<string, string>): Node => ({
  metadata: { name: 'n' },
  spec: {},
  status: { capacity, allocatable },
});

it('offers what somebody has written into the capacity, and nothing of its own', () => {
  const capacity = { cpu: '2', 'example.com/dongle': '4', 'example.com/gpu': '1', 'hugepages-2Mi': '0' };
  expect(advertisedResources(node(capacity, { cpu: '2' }), { 'example.com/gpu': '1' })).toEqual({
    offered: { 'example.com/dongle': '4' },
    gone: {},
  });
});

it('takes back what is no longer in the capacity, but not what devices are', () => {
  const allocatable = { cpu: '2', 'example.com/dongle': '4', 'example.com/gpu': '0' };
  expect(advertisedResources(node({ cpu: '2' }, allocatable), { 'example.com/gpu': '0' })).toEqual({
    offered: {},
    gone: { 'example.com/dongle': null },
  });
});
