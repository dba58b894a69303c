// Prints a line per suite and, last, the sum: `N passed, N failed, N skipped`. Exit code 1 when something failed.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = join(dirname(fileURLToPath(import.meta.url)), '../test-results');
const suites = existsSync(directory)
  ? readdirSync(directory)
      .filter((f) => f.endsWith('.json'))
      .map((f) => JSON.parse(readFileSync(join(directory, f), 'utf8')))
  : [];
const sum = { passed: 0, failed: 0, skipped: 0 };
for (const s of suites) {
  console.log(`${s.suite.padEnd(16)} ${s.passed} passed, ${s.failed} failed, ${s.skipped} skipped`);
  for (const file of s.unstable ?? []) console.log(`  unstable, passed when run once more alone: ${file}`);
  for (const key of Object.keys(sum)) sum[key] += s[key];
}
if (suites.length === 0) {
  console.log('no suite left a result: the run broke off early');
  sum.failed = 1;
}
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
process.exitCode = sum.failed > 0 ? 1 : 0;
