module.exports = {
  ...require('../../jest.preset.cjs'),
  rootDir: __dirname,
  testMatch: ['<rootDir>/**/*.test.ts'],
  // A limit for what hangs, and no measure of speed.
  testTimeout: 300_000,
  maxWorkers: 1,
  // In a process of its own: one that dies fails its file, not the whole run.
  workerIdleMemoryLimit: '1GB',
};
