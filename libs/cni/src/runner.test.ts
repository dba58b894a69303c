import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInPlugins } from './plugins/registry';
import type { PluginNetwork } from './plugin';
import { CniRunner, type RuntimeConf } from './runner';
import type { NetworkConfigList } from './types';

describe('CniRunner', () => {
  const dir = mkdtempSync(join(tmpdir(), 'cni-'));
  const binDir = join(dir, 'bin');
  const dataDir = join(dir, 'networks');
  const attached = new Map<string, readonly string[]>();
  const rules = new Map<string, number>();
  const network: PluginNetwork = {
    async attach({ netns, ifname, addresses }) {
      attached.set(`${netns}|${ifname}`, addresses);
      return { bridgeMac: 'b', hostIfname: 'veth1', hostMac: 'h', mac: 'm' };
    },
    detach: async ({ netns, ifname }) => void attached.delete(`${netns}|${ifname}`),
    listInterfaces: async (netns) => [{ name: 'eth0', addresses: attached.get(`${netns}|eth0`) ?? [] }],
    setRules: async (owner, list) => void rules.set(owner, list.length),
  };
  const runner = new CniRunner({
    plugins: builtInPlugins,
    binDir,
    cacheDir: join(dir, 'results'),
    network: () => network,
  });
  const list = (subnet: string): NetworkConfigList => ({
    cniVersion: '1.1.0',
    name: 'test',
    plugins: [
      { type: 'bridge', isGateway: true, ipam: { type: 'host-local', dataDir, ranges: [[{ subnet }]] } },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
  const conf = (containerId: string): RuntimeConf => ({
    containerId,
    netns: `/netns/${containerId}`,
    ifname: 'eth0',
    capabilityArgs: { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] },
  });
  const small = list('10.0.0.0/29');

  afterAll(() => rmSync(dir, { recursive: true }));
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('runs the chain and hands each plugin the result of the one before', async () => {
    const result = await runner.add(small, conf('a'));
    expect(result.ips).toEqual([{ address: '10.0.0.2/29', gateway: '10.0.0.1', interface: 2 }]);
    expect(result.interfaces?.map((i) => i.name)).toEqual(['cni0', 'veth1', 'eth0']);
    expect(attached.get('/netns/a|eth0')).toEqual(['10.0.0.2/29']);
    expect(rules.get('portmap/a')).toBe(1);
    await runner.check(small, conf('a'));
    await runner.del(small, conf('a'));
    expect(attached.size).toBe(0);
    expect(rules.get('portmap/a')).toBe(0);
    expect(readdirSync(join(dataDir, 'test'))).toEqual(['last_reserved_ip.0']);
  });

  it('never gives an address twice, says when none is left, and takes freed ones up again', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const results = await Promise.all(ids.map((id) => runner.add(small, conf(id))));
    const addresses = results.map((result) => result.ips?.[0]?.address);
    expect(new Set(addresses).size).toBe(5);
    await expect(runner.add(small, conf('f'))).rejects.toThrow(
      'plugin type="bridge" failed: plugin type="host-local" failed: failed to allocate for range 0: no IP addresses available in range set: 10.0.0.1-10.0.0.6',
    );
    await runner.del(small, conf('c'));
    expect((await runner.add(small, conf('f'))).ips?.[0]?.address).toBe(addresses[2]);
  });

  it('goes on in the next range of a set after the last address, and round to what has become free', async () => {
    const ranges = [[{ subnet: '10.0.0.0/30' }, { subnet: '10.0.1.0/30' }, { subnet: '10.0.2.0/29' }]];
    const [bridge, ...others] = small.plugins;
    const ipam = { type: 'host-local', dataDir, ranges };
    const several: NetworkConfigList = {
      ...small,
      plugins: [{ type: 'bridge', ...bridge, ipam }, ...others],
    };
    const add = async (id: string) => (await runner.add(several, conf(id))).ips?.[0]?.address;
    expect([await add('a'), await add('b'), await add('c')]).toEqual([
      '10.0.0.2/30',
      '10.0.1.2/30',
      '10.0.2.2/29',
    ]);
    await runner.del(several, conf('a'));
    expect([await add('d'), await add('e')]).toEqual(['10.0.2.3/29', '10.0.2.4/29']);
    for (const id of ['f', 'g']) await add(id);
    expect(await add('h')).toBe('10.0.0.2/30');
    await expect(add('i')).rejects.toThrow('no IP addresses available');
  });

  it('releases what belongs to no valid attachment', async () => {
    await runner.add(small, conf('kept'));
    await runner.add(small, conf('lost'));
    await runner.gc(small, [{ containerID: 'kept', ifname: 'eth0' }]);
    expect(readdirSync(join(dataDir, 'test')).sort()).toEqual(['10.0.0.2', 'last_reserved_ip.0']);
  });

  it('fails CHECK when the interface has lost its address', async () => {
    await runner.add(small, conf('a'));
    attached.set('/netns/a|eth0', []);
    await expect(runner.check(small, conf('a'))).rejects.toThrow(
      'failed to match interface eth0 address 10.0.0.2/29',
    );
    await runner.del(small, conf('a'));
  });

  it('executes foreign plugins with the parameters in their environment', async () => {
    mkdirSync(binDir, { recursive: true });
    const file = join(binDir, 'foreign');
    writeFileSync(
      file,
      '#!/bin/sh\ncat > /dev/null\necho "{\\"cniVersion\\":\\"1.1.0\\",\\"ips\\":[{\\"address\\":\\"10.9.9.9/24\\"}],\\"dns\\":{\\"domain\\":\\"$CNI_COMMAND-$CNI_CONTAINERID-$CNI_IFNAME\\"}}"\n',
    );
    chmodSync(file, 0o755);
    const foreign = { cniVersion: '1.1.0', name: 'foreign', plugins: [{ type: 'foreign' }] };
    const result = await runner.add(foreign, conf('a'));
    expect(result.dns).toEqual({ domain: 'ADD-a-eth0' });
  });

  it('names the plugin that is not there', async () => {
    const absent = { cniVersion: '1.1.0', name: 'absent', plugins: [{ type: 'weave' }] };
    await expect(runner.add(absent, conf('a'))).rejects.toThrow(
      `failed to find plugin "weave" in path [${binDir}]`,
    );
  });
});
