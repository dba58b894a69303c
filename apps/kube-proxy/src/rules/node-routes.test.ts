import type { Node } from '@tinkernetes/api';
import { nodeRoutes } from './node-routes';

const node = (
  name: string,
  change: Partial<Node['metadata']> = {},
  podCIDR: string | undefined = '10.244.2.0/24',
): Node =>
  ({
    metadata: { name, annotations: { 'vnet.tinkernetes.dev/endpoint': '127.0.0.1:4789' }, ...change },
    spec: { podCIDR },
    status: { addresses: [{ type: 'InternalIP', address: '172.30.0.12' }] },
  }) as Node;

describe('nodeRoutes', () => {
  it('reaches each other node through its overlay endpoint', () => {
    expect(nodeRoutes([node('node-1'), node('node-2')], 'node-1')).toEqual([
      { destination: '10.244.2.0/24', gateway: '172.30.0.12', endpoint: '127.0.0.1:4789' },
    ]);
  });

  it('waits for a node that has told no endpoint or has no range yet', () => {
    const unranged = { ...node('node-3'), spec: {} } as Node;
    expect(nodeRoutes([node('node-2', { annotations: {} }), unranged], 'node-1')).toEqual([]);
  });
});
