// One suite of Jest tests; its counts go to test-results/<suite>.json for tools/summary.mjs.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** A suite that hangs must not take the whole run with it. */
const longestRunMs = 30 * 60_000;
/** More failed files than these are no matter of luck. */
const mostRerun = 3;

/**
 * Returns Jest's exit code. `args` come first: an option with a list of values would take what follows it for more.
 * With TINKERNETES_RERUN_FAILED set (.ci/run does), the few files that failed run once more, alone: what passes then
 * counts as passed and is named in the sum as unstable, which is a fault to mend, but says nothing of the change.
 */
export function runJest(suite, args, env = {}) {
  const resultFile = join(root, 'test-results', `${suite}.json`);
  rmSync(resultFile, { force: true });
  const status = jest(suite, args, env);
  const first = readResult(resultFile);
  if (!first) {
    console.error(`${suite}: Jest ended before its tests did`);
    mkdirSync(dirname(resultFile), { recursive: true });
    writeFileSync(resultFile, `${JSON.stringify({ suite, passed: 0, failed: 1, skipped: 0 })}\n`);
    return status || 1;
  }
  if (status === 0 || !process.env.TINKERNETES_RERUN_FAILED) return status;
  const again = first.failedFiles;
  if (again.length === 0 || again.length > mostRerun) return status;

  console.log(`--- ${suite}: once more, alone: ${again.map(({ file }) => file).join(', ')}`);
  const config = args.includes('--config') ? ['--config', args[args.indexOf('--config') + 1]] : [];
  const files = again.map(({ file }) => join(root, file));
  const secondStatus = jest(suite, [...config, '--runInBand', '--runTestsByPath', ...files], env);
  const second = readResult(resultFile);
  const merged = { ...first, unstable: secondStatus === 0 ? again.map(({ file }) => file) : [] };
  if (second)
    for (const key of ['passed', 'failed', 'skipped'])
      merged[key] = again.reduce((sum, counts) => sum - counts[key], first[key]) + second[key];
  writeFileSync(resultFile, `${JSON.stringify(merged)}\n`);
  return secondStatus;
}

function jest(suite, args, env) {
  const result = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/jest/bin/jest.js'),
      ...args,
      // After a failure something may be left open that would keep Jest from ending.
      '--forceExit',
      '--reporters=default',
      `--reporters=${join(root, 'tools/jest-summary-reporter.cjs')}`,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TINKERNETES_SUITE: suite, ...env },
      timeout: longestRunMs,
      killSignal: 'SIGKILL',
    },
  );
  if (result.error) console.error(`${suite}: ${result.error.message}`);
  else if (result.signal) console.error(`${suite}: Jest was ended by ${result.signal}`);
  return result.status ?? 1;
}

function readResult(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
