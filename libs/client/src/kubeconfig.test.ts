import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadInClusterConfig } from './in-cluster-config';
import { loadKubeconfig } from './kubeconfig';

const options = { userAgent: 'test' };
const kubeconfig = `
apiVersion: v1
kind: Config
current-context: inline
clusters:
- {name: a, cluster: {server: "https://a:6443/", certificate-authority-data: ${Buffer.from('CA').toString('base64')}}}
- {name: b, cluster: {server: "https://b:6443", certificate-authority: ca.crt}}
- {name: c, cluster: {server: "https://c:6443", insecure-skip-tls-verify: true}}
contexts:
- {name: inline, context: {cluster: a, user: cert}}
- {name: files, context: {cluster: b, user: files}}
- {name: token, context: {cluster: c, user: token}}
- {name: lost, context: {cluster: gone, user: cert}}
users:
- {name: cert, user: {client-certificate-data: ${Buffer.from('CERT').toString('base64')}, client-key-data: ${Buffer.from('KEY').toString('base64')}}}
- {name: files, user: {client-certificate: tls.crt, client-key: tls.key, tokenFile: token}}
- {name: token, user: {token: abc}}
`;

describe('loadKubeconfig', () => {
  let dir: string;
  const path = () => join(dir, 'config');
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
    const files = {
      config: kubeconfig,
      'ca.crt': 'FILE-CA',
      'tls.crt': 'FILE-CERT',
      'tls.key': 'FILE-KEY',
      token: 'tok\n',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('takes inline data of the current context', async () => {
    expect(await loadKubeconfig(path(), options)).toMatchObject({
      server: 'https://a:6443',
      caData: 'CA',
      certData: 'CERT',
      keyData: 'KEY',
    });
  });

  it('finds files beside the kubeconfig', async () => {
    expect(await loadKubeconfig(path(), { ...options, context: 'files' })).toMatchObject({
      caData: 'FILE-CA',
      certData: 'FILE-CERT',
      keyData: 'FILE-KEY',
      tokenFile: join(dir, 'token'),
    });
  });

  it('takes a token and skips verification where it says so', async () => {
    expect(await loadKubeconfig(path(), { ...options, context: 'token' })).toMatchObject({
      token: 'abc',
      insecureSkipTLSVerify: true,
    });
  });

  it('reads JSON too', async () => {
    const json = {
      'current-context': 'x',
      clusters: [{ name: 'c', cluster: { server: 'http://c' } }],
      contexts: [{ name: 'x', context: { cluster: 'c' } }],
    };
    await writeFile(join(dir, 'json'), JSON.stringify(json));
    expect(await loadKubeconfig(join(dir, 'json'), options)).toMatchObject({ server: 'http://c' });
  });

  it.each([
    ['nope', 'has no context "nope"'],
    ['lost', 'has no cluster "gone"'],
  ])('says what is missing for context %s', async (context, message) => {
    await expect(loadKubeconfig(path(), { ...options, context })).rejects.toThrow(message);
  });

  it('reads what a Pod is given', async () => {
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
    expect(await loadInClusterConfig({ ...options, env, directory: dir })).toMatchObject({
      server: 'https://10.96.0.1:443',
      caData: 'FILE-CA',
      tokenFile: join(dir, 'token'),
    });
    await expect(loadInClusterConfig({ ...options, env: {}, directory: dir })).rejects.toThrow(
      'not in a Pod',
    );
  });
});
