// One suite of Jest tests; its counts go to test-results/<suite>.json for tools/summary.mjs.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Returns Jest's exit code. `args` come first: an option with a list of values would take what follows it for more. */
export function runJest(suite, args, env = {}) {
  const result = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/jest/bin/jest.js'),
      ...args,
      '--reporters=default',
      `--reporters=${join(root, 'tools/jest-summary-reporter.cjs')}`,
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, TINKERNETES_SUITE: suite, ...env } },
  );
  return result.status ?? 1;
}
