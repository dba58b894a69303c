import { realClock } from '@tinkernetes/component-base';
import { SeededRandom } from '@tinkernetes/component-base/testing';
import type { Rule } from '@tinkernetes/vnet';
import { NatTable } from './nat-table';

describe('NatTable', () => {
  const rule = (change: Partial<Rule>): Rule => ({
    name: 'default/web',
    protocol: 'TCP',
    port: 30080,
    nodePort: true,
    action: 'DROP',
    ...change,
  });

  it('lets the first rule decide that the source may use', () => {
    const table = new NatTable(realClock, new SeededRandom());
    table.set('kube-proxy', [
      rule({
        action: 'DNAT',
        sourceRanges: ['10.244.1.0/24'],
        endpoints: [{ address: '10.244.2.2', port: 80 }],
      }),
      rule({ action: 'DROP' }),
    ]);
    const from = (source: string) =>
      table.translate({ protocol: 'TCP', source, destination: '172.30.0.11', port: 30080 }, true)?.action;
    expect([from('10.244.1.7'), from('192.0.2.1')]).toEqual(['DNAT', 'DROP']);
    expect(table.nodePorts()).toHaveLength(1);
  });
});
