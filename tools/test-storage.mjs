// `npm run test:storage [-- JEST ARGS]`: the storage contract on memory, sqlite, and a real redis-server and etcd, which
// the tests start on free loopback ports and stop again.
import { installIfNeeded } from './install.mjs';
import { requirePrograms } from './require-programs.mjs';
import { runJest } from './run-jest.mjs';

installIfNeeded();
requirePrograms('redis-server', 'etcd');
process.exit(
  runJest('storage', [
    'libs/storage',
    '--testPathIgnorePatterns=(crash|outage)\\.test',
    ...process.argv.slice(2),
  ]),
);
