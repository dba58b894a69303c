import type { Service } from '@tinkernetes/api';
import { silentLogger } from '@tinkernetes/component-base/testing';
import type { ClusterIps } from './cluster-ips';
import type { NodePorts } from './node-ports';
import { createServiceHooks } from './service-hooks';

describe('a Service whose clusterIP is to be another', () => {
  const taken: string[] = [];
  const ips = { take: async (address: string) => void taken.push(address) } as unknown as ClusterIps;
  const hooks = createServiceHooks({ ips, ports: {} as NodePorts, logger: silentLogger });
  const service = (clusterIP: string): Service => ({
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'ClusterIP', clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80 }] },
  });
  const begin = (clusterIP: string) =>
    hooks.begin?.(service(clusterIP) as never, service('10.96.0.7') as never, { dryRun: false });

  it.each([['10.96.0.9'], ['192.168.0.1']])('is left to validation, and %s is not taken', async (address) => {
    expect(await begin(address)).toMatchObject({ object: { spec: { clusterIP: address } } });
    expect(taken).toEqual([]);
  });

  it('is told first when that is no address', async () => {
    await expect(begin('bad')).rejects.toThrow(
      'spec.clusterIPs[0]: Invalid value: "bad": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    );
  });
});
