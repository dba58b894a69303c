// `npx jest libs/storage` runs one folder; `npm test` runs everything through tools/test.mjs.
module.exports = {
  ...require('./jest.preset.cjs'),
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/tools', '<rootDir>/examples', '<rootDir>/test'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/test/clients/', '/test/e2e/', '/test/compose/'],
};
