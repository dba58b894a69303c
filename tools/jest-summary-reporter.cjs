// Writes how many tests passed, failed and were skipped to test-results/<suite>.json, for tools/summary.mjs.
'use strict';
const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

module.exports = class SummaryReporter {
  onRunComplete(_contexts, results) {
    const suite = process.env.TINKERNETES_SUITE ?? 'unit';
    const directory = join(__dirname, '../test-results');
    mkdirSync(directory, { recursive: true });
    const summary = {
      suite,
      passed: results.numPassedTests,
      // A file that can't even be loaded counts as one failure: its tests were never seen.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    writeFileSync(join(directory, `${suite}.json`), `${JSON.stringify(summary)}\n`);
  }
};
