// Runs a bundled app with V8's code cache: `node dist/run.cjs APP [flags]`. The cache is written once after the first
// run's start, when the functions that a start needs have been compiled, and dropped by the build when the app changes.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const Module = require('node:module');

const dist = path.join(__dirname, 'apps');

function run(app, argv) {
  const filename = path.join(dist, `${app}.cjs`);
  const cacheFile = path.join(dist, `${app}.${process.version}-${process.arch}.v8cache`);
  // The build leaves nothing but ASCII: no need to decode megabytes of UTF-8.
  const source = fs.readFileSync(filename, 'latin1');
  let cachedData;
  try {
    cachedData = fs.readFileSync(cacheFile);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const script = new vm.Script(Module.wrap(source), {
    filename,
    cachedData,
    importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = new Module(filename, null);
  module.filename = filename;
  module.paths = Module._nodeModulePaths(path.dirname(filename));
  process.argv = [process.argv[0], filename, ...argv];
  if (!cachedData || script.cachedDataRejected) writeCacheLater(script, cacheFile);
  script.runInThisContext()(
    module.exports,
    Module.createRequire(filename),
    module,
    filename,
    path.dirname(filename),
  );
}

function writeCacheLater(script, cacheFile) {
  setTimeout(() => {
    const temporary = `${cacheFile}.${process.pid}`;
    try {
      fs.writeFileSync(temporary, script.createCachedData());
      fs.renameSync(temporary, cacheFile);
    } catch (error) {
      // A read-only installation works without the cache, only slower.
      if (!['EACCES', 'EROFS', 'ENOSPC', 'ENOENT'].includes(error.code)) throw error;
    }
  }, 4000).unref();
}

module.exports = { run };
if (require.main === module) run(process.argv[2], process.argv.slice(3));
