// `npm run test:e2e [-- JEST ARGS]`: a cluster of processes, driven by unmodified kubectl and helm.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpClients } from '../test/clients/setup.mjs';
import { build } from './build.mjs';
import { installIfNeeded } from './install.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
installIfNeeded();
await build();
const clients = setUpClients();
const result = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/jest/bin/jest.js'),
    '--config',
    join(root, 'test/e2e/jest.config.cjs'),
    '--reporters=default',
    `--reporters=${join(root, 'tools/jest-summary-reporter.cjs')}`,
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TINKERNETES_SUITE: 'e2e', TINKERNETES_CLIENTS: clients },
  },
);
process.exit(result.status ?? 1);
