// `npm run test:e2e [-- JEST ARGS]`: a cluster of processes, driven by unmodified kubectl and helm.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpClients } from '../test/clients/setup.mjs';
import { build } from './build.mjs';
import { installIfNeeded } from './install.mjs';
import { runJest } from './run-jest.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
installIfNeeded();
await build();
const config = join(root, 'test/e2e/jest.config.cjs');
process.exit(
  runJest('e2e', [...process.argv.slice(2), '--config', config], { TINKERNETES_CLIENTS: setUpClients() }),
);
