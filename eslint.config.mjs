import nx from '@nx/eslint-plugin';
import importX from 'eslint-plugin-import-x';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** What an app may see: all libraries but the test helpers. */
const libraries = [
  'api',
  'base',
  'apimachinery',
  'client',
  'informers',
  'workqueue',
  'controller',
  'storage',
  'streaming',
  'cel',
  'grpc',
  'cri',
  'csi',
  'cni',
  'vnet',
];

/** Who may import whom (docs/map.md has the picture). Deny by default: a layer sees only what is listed. */
const layers = {
  api: [],
  base: [],
  apimachinery: ['api', 'base'],
  client: ['api', 'base', 'apimachinery'],
  informers: ['api', 'base', 'apimachinery', 'client'],
  workqueue: ['base'],
  controller: ['api', 'base', 'apimachinery', 'client', 'informers', 'workqueue'],
  storage: ['base'],
  streaming: ['base'],
  cel: ['api', 'base', 'apimachinery'],
  grpc: ['base'],
  cri: ['base', 'grpc'],
  csi: ['base', 'grpc'],
  cni: ['base'],
  vnet: ['base', 'grpc'],
  testing: [...libraries, 'app'],
  app: libraries,
};

const planes = {
  control: ['control', 'shared'],
  node: ['node', 'network', 'shared'],
  network: ['network', 'shared'],
};

/** `allow`: imports that are never looked at. Nx forbids all imports of applications; only launchers are excepted. */
const moduleBoundaries = (allow) => [
  'error',
  {
    enforceBuildableLibDependency: false,
    allow,
    depConstraints: [
      ...Object.entries(layers).map(([layer, may]) => ({
        sourceTag: `layer:${layer}`,
        onlyDependOnLibsWithTags: [`layer:${layer}`, ...may.map((l) => `layer:${l}`)],
      })),
      ...Object.entries(planes).map(([plane, may]) => ({
        sourceTag: `plane:${plane}`,
        onlyDependOnLibsWithTags: may.map((p) => `plane:${p}`),
      })),
      { sourceTag: 'type:app', onlyDependOnLibsWithTags: ['type:lib'] },
      { sourceTag: 'type:lib', onlyDependOnLibsWithTags: ['type:lib', 'type:app'] },
      { sourceTag: 'type:launcher', onlyDependOnLibsWithTags: ['type:lib', 'type:app'] },
    ],
  },
];

const apps = [
  'apiserver',
  'controller-manager',
  'scheduler',
  'kubelet',
  'mock-runtime',
  'kube-proxy',
  'cluster-dns',
  'cni-plugins',
];

export default tseslint.config(
  {
    ignores: [
      '**/node_modules',
      '**/dist',
      '**/generated',
      'coverage',
      '.nx',
      '.tinkernetes',
      'test/clients',
      'libs/api/facts',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommended],
    plugins: { '@nx': nx, 'import-x': importX },
    languageOptions: {
      globals: globals.node,
      // One program for all: one a project, which the project service makes, takes more than Node's heap.
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@nx/enforce-module-boundaries': moduleBoundaries([]),
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'import-x/no-cycle': ['error', { maxDepth: 8 }],
      'max-params': ['warn', 4],
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval'].map((name) => ({
          name,
          message: 'Use the injected Clock (libs/component-base).',
        })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Use the injected Clock.' },
        {
          object: 'AbortSignal',
          property: 'any',
          message: 'Use linkSignals: it leaves nothing with signals that live on.',
        },
        { object: 'Math', property: 'random', message: 'Use the injected Random.' },
      ],
    },
  },
  {
    files: [
      'libs/component-base/**/*.ts',
      '**/*.test.ts',
      'test/**/*.ts',
      'examples/**/*.ts',
      'tools/**/*.ts',
    ],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off', 'max-params': 'off' },
  },
  {
    files: ['apps/tinkernetes/**/*.ts', 'libs/testing/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': moduleBoundaries(apps.map((app) => `@tinkernetes/${app}`)) },
  },
  {
    // The runtime carries the CNI plugins inside it; foreign ones are executables.
    files: ['apps/mock-runtime/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': moduleBoundaries(['@tinkernetes/cni-plugins']) },
  },
  {
    // Tests may start the real API server beside the component they try.
    files: ['apps/*/src/**/*.test.ts', 'apps/*/src/testing/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': moduleBoundaries(['@tinkernetes/testing', '@tinkernetes/cni-plugins']),
    },
  },
  { files: ['**/*.mjs', '**/*.cjs'], languageOptions: { globals: globals.node } },
);
