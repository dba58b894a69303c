#!/usr/bin/env node
// The installed package has its bundles beside this file's folder; the workspace has them at its top.
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const runner = [join(__dirname, '../dist/run.cjs'), join(__dirname, '../../../dist/run.cjs')].find(
  existsSync,
);
if (!runner) {
  console.error('tinkernetes: not built yet: run `npm run build` in the workspace first');
  process.exit(2);
}
require(runner).run('tinkernetes', process.argv.slice(2));
