// `npx jest libs/storage` runs one folder; `npm test` runs everything through tools/test.mjs.
module.exports = {
  ...require('./jest.preset.cjs'),
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/tools', '<rootDir>/examples', '<rootDir>/test'],
  // A limit for what hangs, and no measure of speed: on a slow or busy machine even seconds of work take long.
  testTimeout: 180_000,
  // In processes of their own, also on two cores: one that dies fails its file, not the whole run, and one that has grown
  // is replaced.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/test/clients/', '/test/e2e/', '/test/compose/'],
};
