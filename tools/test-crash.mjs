// `npm run test:crash`: kills the process that writes to sqlite, and redis and etcd under their writers, again and
// again; nothing acknowledged may be lost. CRASH_ROUNDS: how often each (default 20).
import { installIfNeeded } from './install.mjs';
import { requirePrograms } from './require-programs.mjs';
import { runJest } from './run-jest.mjs';

installIfNeeded();
requirePrograms('redis-server', 'etcd');
process.exit(
  runJest(
    'crash',
    ['--runInBand', '--testPathPatterns=libs/storage/.*(crash|outage)\\.test', ...process.argv.slice(2)],
    { CRASH_ROUNDS: process.env.CRASH_ROUNDS ?? '20' },
  ),
);
