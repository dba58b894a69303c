// The bundled API server alone, as a process of its own: nothing but its clients changes what it holds.
import { fork } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Starts it on memory storage and a free loopback port, with keys and certificates of its own; needs a current build. */
export async function startApiServer() {
  const directory = mkdtempSync(join(tmpdir(), 'tk-replay-'));
  const token = randomUUID();
  const write = (name, text) => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const tokens = write('tokens.csv', `${token},kubernetes-admin,1,"system:masters"\n`);
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const child = fork(
    join(root, 'dist/run.cjs'),
    [
      'apiserver',
      '--secure-port=0',
      '--storage=memory',
      `--token-auth-file=${tokens}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${write('sa.key', keys.privateKey)}`,
      `--service-account-key-file=${write('sa.pub', keys.publicKey)}`,
    ],
    { cwd: directory, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr = `${stderr}${chunk}`.slice(-20_000)));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise((resolve, reject) => {
    child.on('message', (message) => message.type === 'ready' && resolve(message.info.port));
    void exited.then((code) => reject(new Error(`the API server ended with ${code}:\n${stderr}`)));
  });
  return {
    url: `https://127.0.0.1:${port}`,
    token,
    port,
    running: () => child.exitCode === null && child.signalCode === null,
    stderr: () => stderr,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
