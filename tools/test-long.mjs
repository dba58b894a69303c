// `npm run test:long`: what takes minutes. 200 crash rounds a driver, and many more random clusters for the scheduler.
import { installIfNeeded } from './install.mjs';
import { runJest } from './run-jest.mjs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

installIfNeeded();
const crash = join(dirname(fileURLToPath(import.meta.url)), 'test-crash.mjs');
const crashed = spawnSync(process.execPath, [crash], {
  stdio: 'inherit',
  env: { ...process.env, CRASH_ROUNDS: process.env.CRASH_ROUNDS ?? '200' },
});
const properties = runJest('placement-long', ['apps/scheduler/src/scheduler/placement.property.test.ts'], {
  PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? '500',
});
process.exit(crashed.status === 0 && properties === 0 ? 0 : 1);
