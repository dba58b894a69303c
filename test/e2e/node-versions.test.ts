import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLineClient } from '../harness/clients';

const root = join(__dirname, '../..');
const binaryOf = (major: string) => join(root, `test/clients/node_modules/node-${major}/bin/node`);

describe.each(['22', '24'])('Node %s', (major) => {
  // The binaries come from npm packages for 64-bit Linux; elsewhere there is nothing to try with.
  const maybe = existsSync(binaryOf(major)) ? it : it.skip;

  maybe.each([[[]], [['--in-process']]])('runs a cluster with flags %j', async (flags) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tk-node-'));
    const child = spawn(
      binaryOf(major),
      [
        join(root, 'dist/run.cjs'),
        'tinkernetes',
        'up',
        '--nodes=1',
        '--api-port=0',
        `--data-dir=${dataDir}`,
        ...flags,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    try {
      let printed = '';
      child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      await new Promise<void>((resolve, reject) => {
        child.stdout.on('data', (chunk: Buffer) => {
          printed += chunk.toString();
          if (printed.includes('Cluster ready in ')) resolve();
        });
        void exited.then((code) => reject(new Error(`ended with ${code}:\n${printed}`)));
      });
      const kubectl = new CommandLineClient('kubectl', '35', join(dataDir, 'kubeconfig'));
      await kubectl.run(['create', 'deployment', 'web', '--image=nginx', '--replicas=2']);
      await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s']);
    } finally {
      child.kill('SIGTERM');
      await exited;
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
