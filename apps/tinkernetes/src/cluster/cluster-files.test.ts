import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ensureCredentials, serverUrl } from './credentials';
import { ClusterLayout } from './layout';
import { readState, writeState } from './state';

let dataDir: string;
let layout: ClusterLayout;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tk-files-'));
  layout = new ClusterLayout(dataDir);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const ensure = (server: string, ipAddresses: string[] = []) =>
  ensureCredentials({
    layout,
    state: { bootstrapToken: 'abcdef.0123456789abcdef' },
    server,
    admin: { file: join(dataDir, 'kubeconfig'), server },
    names: { dnsNames: [], ipAddresses },
    now: Date.now(),
  });

it('makes keys once, readable by their owner only, and kubeconfigs for each start', async () => {
  await ensure('https://127.0.0.1:1');
  const first = readFileSync(layout.pki('ca.crt'), 'utf8');
  await ensure('https://127.0.0.1:2');
  expect(readFileSync(layout.pki('ca.crt'), 'utf8')).toBe(first);
  expect(statSync(layout.pki('ca.key')).mode & 0o077).toBe(0);
  const kubeconfig = parse(readFileSync(join(dataDir, 'kubeconfig'), 'utf8')) as {
    clusters: Array<{ cluster: { server: string } }>;
  };
  expect(kubeconfig.clusters[0]?.cluster.server).toBe('https://127.0.0.1:2');
});

it("makes the API server's certificate anew when it isn't valid for a new address", async () => {
  await ensure('https://127.0.0.1:1');
  const before = readFileSync(layout.pki('apiserver.crt'), 'utf8');
  await ensure('https://127.0.0.1:1');
  expect(readFileSync(layout.pki('apiserver.crt'), 'utf8')).toBe(before);
  await ensure('https://192.0.2.7:1', ['192.0.2.7']);
  const after = new X509Certificate(readFileSync(layout.pki('apiserver.crt')));
  expect(after.checkIP('192.0.2.7')).toBe('192.0.2.7');
  expect(after.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
});

it.each([
  ['0.0.0.0', 'https://127.0.0.1:6443'],
  ['::', 'https://[::1]:6443'],
  ['fd00::1', 'https://[fd00::1]:6443'],
  ['192.0.2.7', 'https://192.0.2.7:6443'],
])('reaches a server bound to %s at %s', (bind, url) => {
  expect(serverUrl(bind, 6443)).toBe(url);
});

it('remembers a cluster, and refuses a file that is damaged or from another version', async () => {
  expect(await readState(layout)).toBeUndefined();
  const state = { version: 1 as const, id: 'x', apiPort: 6443, bootstrapToken: 'a.b' };
  await writeState(layout, state);
  expect(await readState(layout)).toEqual(state);
  writeFileSync(layout.stateFile, '{"version": 2}');
  await expect(readState(layout)).rejects.toThrow('another version of Tinkernetes (layout 2)');
  writeFileSync(layout.stateFile, 'garbage');
  await expect(readState(layout)).rejects.toThrow('is damaged');
});

it('has socket paths that fit into a socket address, however deep the data directory lies', () => {
  const deep = new ClusterLayout(`/home/someone/${'a-long-folder-name/'.repeat(10)}cluster`);
  expect(deep.criSocket('node-1000').length).toBeLessThan(104);
});

it('refuses a damaged authority by name and keeps it as it is', async () => {
  await ensure('https://127.0.0.1:1');
  writeFileSync(layout.pki('ca.crt'), 'garbage');
  await expect(ensure('https://127.0.0.1:1')).rejects.toThrow(
    /pki\/ca\.crt and its key are damaged .* restore them, or choose another --data-dir/,
  );
  expect(readFileSync(layout.pki('ca.crt'), 'utf8')).toBe('garbage');
});

it('says what can not be written, and what to do', async () => {
  writeFileSync(join(dataDir, 'pki'), 'a file where a folder should be');
  await expect(ensure('https://127.0.0.1:1')).rejects.toThrow(
    /can't write .*pki.*choose a folder that can be written/,
  );
});
