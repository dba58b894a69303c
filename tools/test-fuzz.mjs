// `npm run test:fuzz [-- --count N --seconds N --seed N --path P]`: mutated recordings sent to the bundled API server.
// Nothing but what the recordings show may end in 5xx, nothing may kill it, nothing half-written may stay behind.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { installIfNeeded } from './install.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '1500' },
    seed: { type: 'string' },
    path: { type: 'string' },
  },
});

installIfNeeded();
await build({ apps: ['apiserver'] });
const { startApiServer } = await import('../test/replay/api-server.mjs');
const { fuzz } = await import('../test/fuzz/fuzz.mjs');
const seed = options.seed === undefined ? Date.now() % 2 ** 31 : Number(options.seed);
console.log(`seed ${seed}, ${options.count} requests`);

const server = await startApiServer();
try {
  const { details, sent, statuses, show } = await fuzz({
    server,
    count: Number(options.count),
    seed,
    path: options.path,
    timeLimitMs: Number(options.seconds) * 1000,
    log: (line) => console.log(line),
  });
  const sum = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
  console.log(`answers: ${sum.join(', ')}`);
  if (details.failed && details.counterexample) {
    console.log(`failed; again with --seed ${details.seed} --path ${details.counterexamplePath}`);
    console.log(`shrunk to:\n${show(details.counterexample[0])}`);
    console.log(String(details.errorInstance?.message ?? details.errorInstance));
  }
  const failed = details.failed && details.counterexample ? 1 : 0;
  mkdirSync(join(root, 'test-results'), { recursive: true });
  const result = { suite: 'fuzz', passed: 1 - failed, failed, skipped: 0 };
  writeFileSync(join(root, 'test-results/fuzz.json'), `${JSON.stringify(result)}\n`);
  console.log(`${sent} requests sent${details.interrupted ? ' (time is up)' : ''}, seed ${seed}`);
  process.exitCode = failed;
} finally {
  await server.stop();
}
