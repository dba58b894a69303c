// `npx jest libs/storage` runs one folder; `npm test` runs everything through tools/test.mjs.
module.exports = {
  ...require('./jest.preset.cjs'),
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/tools', '<rootDir>/examples', '<rootDir>/test'],
  // On a slow or busy machine the usual 5 s are soon over; what hangs still ends.
  testTimeout: 30_000,
  // In processes of their own, also on two cores: one that dies fails its file, not the whole run, and one that has grown
  // is replaced.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/test/clients/', '/test/e2e/', '/test/compose/'],
};
