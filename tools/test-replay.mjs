// `npm run test:replay [-- --only GLOB]`: the bundled API server, alone, gives the answers of a recorded v1.36 API server.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { installIfNeeded } from './install.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const scenarios = join(root, 'test/replay/scenarios');
const results = join(root, 'test-results');
const leastOfAll = 0.97;
const leastOfAnArea = 0.9;

installIfNeeded();
await build({ apps: ['apiserver'] });
mkdirSync(results, { recursive: true });
const { startApiServer } = await import('../test/replay/api-server.mjs');
const server = await startApiServer();
// Not in test-results: each file there is the sum of a suite.
const reportFile = join(root, 'dist/replay-report.json');
rmSync(reportFile, { force: true });
try {
  await replay();
} finally {
  await server.stop();
}
judge(JSON.parse(readFileSync(reportFile, 'utf8')));

function replay() {
  const files = readdirSync(scenarios).map((file) => join(scenarios, file));
  const args = ['--server', server.url, '--token', server.token, '--json', reportFile];
  const child = spawn(
    process.execPath,
    [join(root, 'test/replay/replay.mjs'), ...args, ...process.argv.slice(2), ...files],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

function judge({ passed, failed, counts, scenarios: played }) {
  const share = (part, whole) => (whole === 0 ? 1 : part / whole);
  const areas = new Map();
  for (const { area, results: steps } of played) {
    const sum = areas.get(area) ?? { passed: 0, steps: 0 };
    sum.steps += steps.length;
    sum.passed += steps.filter((step) => step.pass).length;
    areas.set(area, sum);
  }
  const expectations = played.flatMap(({ file, results: steps }) => {
    const recorded = JSON.parse(readFileSync(file, 'utf8')).steps;
    return steps.flatMap(({ step }) => recorded[step]?.expect ?? []);
  });
  const errors = expectations.filter(({ status }) => status >= 400).length;
  const owned = expectations.filter(({ managedFields }) => managedFields).length;
  const percent = (differing, all) => `${(100 * share(all - differing, all)).toFixed(1)} % of ${all}`;
  console.log(`messages as recorded: ${percent(counts.message, errors)} error steps`);
  console.log(`managedFields as recorded: ${percent(counts.managedFields, owned)} steps that show them`);

  const weak = [...areas].filter(([, sum]) => share(sum.passed, sum.steps) < leastOfAnArea);
  for (const [area, sum] of weak) console.log(`${area}: only ${sum.passed} of ${sum.steps} steps`);
  const good = share(passed, passed + failed) >= leastOfAll && weak.length === 0 && passed > 0;
  writeFileSync(
    join(results, 'replay.json'),
    `${JSON.stringify({ suite: 'replay', passed, failed, skipped: 0 })}\n`,
  );
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = good ? 0 : 1;
}
