// Kubernetes' own programs, built from their Go modules (test/interchange/go.mod says which versions).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** The folder that `--binaries FOLDER` names, else the one that they are built into. */
export function binariesFolder(argv = process.argv) {
  const given = argv.indexOf('--binaries');
  return given < 0 ? join(here, '../../dist/upstream') : argv[given + 1];
}

/** Builds those of `programs` that the folder has not yet. */
export function buildUpstream(binaries, programs) {
  const missing = programs.filter((program) => !existsSync(join(binaries, program)));
  if (missing.length === 0) return;
  if (spawnSync('go', ['version']).status !== 0)
    throw new Error(`${missing.join(', ')} are Go programs and there is no \`go\` here (https://go.dev/dl)`);
  mkdirSync(binaries, { recursive: true });
  const args = ['build', '-o', `${binaries}/`, ...missing.map((program) => `./${program}`)];
  const built = spawnSync('go', args, { cwd: here, stdio: 'inherit' });
  if (built.status !== 0) throw new Error('upstream’s programs could not be built: see the lines above');
}

/** Version of a module that the programs are built from. */
export function upstreamVersion(module) {
  const line = readFileSync(join(here, 'go.mod'), 'utf8')
    .split('\n')
    .find((text) => text.trim().startsWith(`${module} v`));
  return line?.trim().split(' ')[1];
}
