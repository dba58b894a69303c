// `npm run test:long`: what takes minutes. 200 crash rounds and 100 checked histories a storage driver, many more random
// clusters for the scheduler, an API server started anew in the middle of 1,000 Bindings, 100,000 broken requests to the
// API server, 1,000 containers that crash at once, 100 Deployments that roll while the managers are killed at random, and
// 20,000 names that the API server makes up.
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
const histories = runJest('histories-long', ['libs/storage', '--testNamePattern=one order of reads'], {
  LINEARIZABILITY_ROUNDS: process.env.LINEARIZABILITY_ROUNDS ?? '100',
});
const properties = runJest('placement-long', ['apps/scheduler/src/scheduler/placement.property.test.ts'], {
  PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? '500',
});
const restarts = runJest('restart-long', ['apps/scheduler/src/failures.test.ts'], {
  RESTART_PODS: process.env.RESTART_PODS ?? '1000',
});
const storm = runJest('storm-long', ['apps/kubelet/src/crash-storm.test.ts'], {
  CRASH_CONTAINERS: process.env.CRASH_CONTAINERS ?? '1000',
});
const fuzz = join(dirname(fileURLToPath(import.meta.url)), 'test-fuzz.mjs');
const fuzzed = spawnSync(process.execPath, [fuzz, '--count', '100000'], { stdio: 'inherit' });
const replicas = runJest('replicas-long', ['apps/controller-manager/src/replicas.test.ts'], {
  CHAOS_DEPLOYMENTS: process.env.CHAOS_DEPLOYMENTS ?? '100',
  CHAOS_KILLS: process.env.CHAOS_KILLS ?? '20',
});
const names = runJest('names-long', ['apps/apiserver/src/generate-name.test.ts'], {
  GENERATED_NAMES: process.env.GENERATED_NAMES ?? '20000',
});
process.exit(
  crashed.status === 0 &&
    histories === 0 &&
    storm === 0 &&
    replicas === 0 &&
    names === 0 &&
    properties === 0 &&
    restarts === 0 &&
    fuzzed.status === 0
    ? 0
    : 1,
);
