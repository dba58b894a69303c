// Writes how many tests passed, failed and were skipped to test-results/<suite>.json, for tools/summary.mjs, and the
// counts of each file that failed, for tools/run-jest.mjs.
'use strict';
const { mkdirSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const root = join(__dirname, '..');

module.exports = class SummaryReporter {
  onRunComplete(_contexts, results) {
    const suite = process.env.TINKERNETES_SUITE ?? 'unit';
    const directory = join(root, 'test-results');
    mkdirSync(directory, { recursive: true });
    const summary = {
      suite,
      passed: results.numPassedTests,
      // A file that can't even be loaded counts as one failure: its tests were never seen.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      failedFiles: results.testResults
        .filter((file) => file.numFailingTests > 0 || file.testExecError)
        .map((file) => ({
          file: relative(root, file.testFilePath),
          passed: file.numPassingTests,
          failed: file.numFailingTests + (file.testExecError ? 1 : 0),
          skipped: file.numPendingTests + file.numTodoTests,
        })),
    };
    writeFileSync(join(directory, `${suite}.json`), `${JSON.stringify(summary)}\n`);
  }
};
