module.exports = {
  ...require('../../jest.preset.cjs'),
  rootDir: __dirname,
  testMatch: ['<rootDir>/**/*.test.ts'],
  testTimeout: 120_000,
  maxWorkers: 1,
};
