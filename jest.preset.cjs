// Shared by every project: TypeScript by swc, workspace libraries straight from their sources.
const esmPackages = [
  'jose',
  '@marcbachmann/cel-js',
  'just-bash',
  'rfc6902',
  're2js',
  '@peculiar/x509',
  '@kubernetes/client-node',
  'oauth4webapi',
  'openid-client',
].map((name) => name.replace('/', '[/\\\\]'));

const libraries = ['component-base', 'storage', 'workqueue'];

module.exports = {
  testEnvironment: 'node',
  rootDir: '.',
  testMatch: ['<rootDir>/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  transform: {
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
  moduleNameMapper: {
    [`^@tinkernetes/(${libraries.join('|')})/testing$`]: `${__dirname}/libs/$1/src/testing/index.ts`,
    '^@tinkernetes/(apiserver|controller-manager|scheduler|kubelet|mock-runtime|cni-plugins|kube-proxy|cluster-dns)$': `${__dirname}/apps/$1/src/index.ts`,
    '^@tinkernetes/([^/]+)$': `${__dirname}/libs/$1/src/index.ts`,
    '^tinkernetes$': `${__dirname}/apps/tinkernetes/src/index.ts`,
  },
};
