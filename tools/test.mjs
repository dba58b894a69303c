// `npm test [-- JEST ARGS]`: every test that a plain machine can run. Installs first if needed.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installIfNeeded } from './install.mjs';
import { runJest } from './run-jest.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
installIfNeeded();
const { build } = await import('./build.mjs');
await build();

const args = process.argv.slice(2);
if (!process.env.TINKERNETES_KEEP_RESULTS)
  rmSync(join(root, 'test-results'), { recursive: true, force: true });
const status = runJest('unit', args);
const summary = spawnSync(process.execPath, [join(root, 'tools/summary.mjs')], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status === 0 && summary.status === 0 ? 0 : 1);
