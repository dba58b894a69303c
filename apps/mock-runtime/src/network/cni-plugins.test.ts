import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInPlugins, CniRunner, type NetworkConfigList, type RuntimeConf } from '@tinkernetes/cni';
import { build } from 'esbuild';
import { startTestRuntime, type TestRuntime } from '../testing/start-runtime';

const plugins = ['bridge', 'host-local', 'portmap', 'loopback'];

/** The plugins as files that a runtime executes, as `npm run build` makes them. */
async function makeExecutables(dir: string): Promise<string> {
  const binDir = join(dir, 'cni-bin');
  mkdirSync(binDir, { recursive: true });
  const bundle = join(dir, 'cni-plugins.cjs');
  await build({
    entryPoints: [join(__dirname, '../../../cni-plugins/src/main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    tsconfig: join(__dirname, '../../../../tsconfig.base.json'),
    define: { 'import.meta.url': '__filename' },
    logLevel: 'error',
  });
  for (const name of plugins)
    writeFileSync(join(binDir, name), `#!/bin/sh\nexec "${process.execPath}" "${bundle}" ${name}\n`, {
      mode: 0o755,
    });
  return binDir;
}

// One contract, both ways in which a runtime runs plugins (CNI specification 1.1).
describe.each(['inside the runtime', 'as executables'])('CNI plugins %s', (way) => {
  let node: TestRuntime;
  let runner: CniRunner;
  let binDir = '';
  let list: NetworkConfigList;

  const conf = (containerId: string): RuntimeConf => ({
    containerId,
    netns: `/netns/${containerId}`,
    ifname: 'eth0',
    args: { K8S_POD_NAME: containerId },
    capabilityArgs: { portMappings: [{ hostPort: 8081, containerPort: 80, protocol: 'tcp' }] },
  });
  const addressesOf = async (containerId: string) =>
    (await node.vnet.listInterfaces(`/netns/${containerId}`)).map(({ addresses }) => addresses[0]);

  beforeAll(async () => {
    node = await startTestRuntime();
    binDir = await makeExecutables(node.dir);
    runner = new CniRunner({
      plugins: way === 'as executables' ? {} : builtInPlugins,
      binDir,
      cacheDir: join(node.dir, 'cni-results'),
      network: () => node.vnet,
    });
    const vnet = `unix://${join(node.dir, 'vnet.sock')}`;
    const ipam = {
      type: 'host-local',
      dataDir: join(node.dir, 'networks'),
      ranges: [[{ subnet: '10.9.0.0/24' }]],
    };
    list = {
      cniVersion: '1.1.0',
      name: 'contract',
      plugins: [
        { type: 'bridge', bridge: 'br9', isGateway: true, vnet, ipam },
        { type: 'portmap', vnet, capabilities: { portMappings: true } },
      ],
    };
  });
  afterAll(() => node?.stop());

  it('attaches a container: interface, address, gateway, host port', async () => {
    const result = await runner.add(list, conf('a'));
    expect(result.ips).toEqual([{ address: '10.9.0.2/24', gateway: '10.9.0.1', interface: 2 }]);
    expect(result.interfaces?.map(({ name }) => name)).toEqual([
      'br9',
      expect.stringMatching(/^veth/),
      'eth0',
    ]);
    expect(await addressesOf('a')).toEqual(['10.9.0.2/24']);
    const hops = await node.vnet.trace({ destination: '172.30.0.11', port: 8081 });
    expect(hops.map(({ decision }) => decision).join('\n')).toContain('10.9.0.2:80');
    await runner.check(list, conf('a'));
  });

  it('gives another container another address, and takes back what is deleted, also twice', async () => {
    const { ips } = await runner.add(list, conf('b'));
    expect(ips?.[0]?.address).toBe('10.9.0.3/24');
    await runner.del(list, conf('b'));
    await runner.del(list, conf('b'));
    expect(await addressesOf('b')).toEqual([]);
  });

  it('fails CHECK for an interface that has gone', async () => {
    await node.vnet.detach({ netns: '/netns/a', ifname: 'eth0' });
    await expect(runner.check(list, conf('a'))).rejects.toThrow(/interface eth0 not found/);
    await runner.del(list, conf('a'));
  });

  it('releases on GC what belongs to no valid attachment, and is ready by STATUS', async () => {
    await runner.add(list, conf('lost'));
    await runner.gc(list, []);
    const { ips } = await runner.add(
      { ...list, plugins: list.plugins.slice(0, 1) },
      { ...conf('next'), capabilityArgs: {} },
    );
    expect(ips).toHaveLength(1);
    await runner.status(list);
  });

  if (way === 'as executables') executablesContract(() => binDir);
});

/** What only a process has: exit code and standard output. */
function executablesContract(binDir: () => string): void {
  const call = (env: Record<string, string>, stdin: string) => {
    const { stdout, status } = spawnSync(join(binDir(), 'bridge'), { env, input: stdin, encoding: 'utf8' });
    return { status, body: JSON.parse(stdout) as Record<string, unknown> };
  };

  it('tells its versions', () => {
    const { status, body } = call({ CNI_COMMAND: 'VERSION' }, '{"cniVersion":"1.1.0"}');
    expect(status).toBe(0);
    expect(body).toMatchObject({ cniVersion: '1.1.0', supportedVersions: expect.arrayContaining(['1.1.0']) });
  });

  it.each([
    ['a missing environment', { CNI_COMMAND: 'ADD' }, '{"cniVersion":"1.1.0"}', 4],
    [
      'a configuration that is no JSON',
      { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'x', CNI_NETNS: '/n', CNI_IFNAME: 'eth0' },
      'no json',
      6,
    ],
    [
      'an unknown version',
      { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'x', CNI_NETNS: '/n', CNI_IFNAME: 'eth0' },
      '{"cniVersion":"9.9.9"}',
      1,
    ],
  ])('refuses %s with its error code', (_what, env, stdin, code) => {
    const { status, body } = call(env, stdin);
    expect(status).toBe(1);
    expect(body).toMatchObject({ code, msg: expect.any(String) });
  });
}
