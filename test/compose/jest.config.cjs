module.exports = {
  ...require('../../jest.preset.cjs'),
  rootDir: __dirname,
  testMatch: ['<rootDir>/**/*.test.ts'],
  testTimeout: 300_000,
  maxWorkers: 1,
};
