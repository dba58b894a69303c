import { parseFlags } from '@tinkernetes/component-base';
import { toClusterOptions, upFlags } from './options';

const optionsOf = (...argv: string[]) => toClusterOptions(parseFlags(upFlags, argv), () => '/tmp/ephemeral');

it('keeps objects in SQLite in the data directory unless told otherwise', () => {
  expect(optionsOf('--data-dir=/c')).toMatchObject({
    dataDir: '/c',
    storage: 'sqlite:/c/storage/state.db',
    kubeconfig: '/c/kubeconfig',
    nodes: 3,
    apiPort: 6443,
    bind: '127.0.0.1',
  });
});

it('keeps an ephemeral cluster elsewhere, on memory, with the kubeconfig where it is looked for', () => {
  expect(optionsOf('--data-dir=/c', '--ephemeral')).toMatchObject({
    dataDir: '/tmp/ephemeral',
    storage: 'memory',
    kubeconfig: '/c/kubeconfig',
  });
});

it.each([
  ['memory', 'memory'],
  ['redis://127.0.0.1:6379', 'redis://127.0.0.1:6379'],
  ['sqlite', 'sqlite:/c/storage/state.db'],
  ['sqlite:/other/store.db', 'sqlite:/other/store.db'],
  ['etcd:https://a:2379,https://b:2379', 'etcd:https://a:2379,https://b:2379'],
  ['sqlite:/other/file.db', 'sqlite:/other/file.db'],
])('understands --storage %s', (given, storage) => {
  expect(optionsOf('--data-dir=/c', `--storage=${given}`).storage).toBe(storage);
});

it.each([
  [['--storage=tape'], 'must be sqlite, sqlite:FILE, memory, redis'],
  [['--storage=redis://'], 'must be sqlite, sqlite:FILE, memory, redis'],
  [['--ephemeral', '--storage=sqlite'], 'keeps nothing'],
  [['--without=apiserver'], 'nothing works without the API server'],
  [['--without=etcd'], 'no such component'],
  [['--nodes=-1'], 'at least 0'],
])('refuses %j', (argv, message) => {
  expect(() => optionsOf(...argv)).toThrow(message);
});

it('leaves out what is named, once or in several flags', () => {
  expect([...optionsOf('--without=scheduler,kube-proxy', '--without=cluster-dns').without]).toEqual([
    'scheduler',
    'kube-proxy',
    'cluster-dns',
  ]);
});

it('wants the file of own images to be there', () => {
  expect(optionsOf(`--images=${__filename}`).images).toBe(__filename);
  expect(() => optionsOf('--images=/nowhere/images.ts')).toThrow('--images /nowhere/images.ts: no such file');
});
