import { path, type Entry } from './entry';
import { loaders } from './loaders';
import { toolset } from '../toolset';

export const languages: readonly Entry[] = [
  {
    repository: 'docker.io/library/perl',
    tags: {
      versions: { 5: 42 },
      names: ['latest', 'stable', 'slim'],
      variants: ['slim', 'bookworm', 'trixie'],
    },
    megabytes: 350,
    config: { cmd: ['perl', '-de0'], env: { PATH: path } },
    root: () => ({ commands: toolset('debian'), programs: { '/usr/local/bin/perl': loaders.perl } }),
  },
  {
    repository: 'docker.io/library/python',
    tags: { versions: { 3: 14 }, variants: ['slim', 'alpine', 'bookworm', 'trixie'] },
    megabytes: 360,
    config: { cmd: ['python3'], env: { PATH: path } },
    root: () => ({
      commands: toolset('debian'),
      programs: { '/usr/local/bin/python3': loaders.python, '/usr/local/bin/python': loaders.python },
    }),
  },
  {
    repository: 'docker.io/library/node',
    tags: {
      versions: { 25: 2, 24: 11, 22: 21, 20: 19, 18: 20 },
      names: ['latest', 'lts', 'current'],
      variants: ['slim', 'alpine', 'bookworm', 'trixie'],
    },
    megabytes: 380,
    config: { entrypoint: ['docker-entrypoint.sh'], cmd: ['node'], env: { PATH: path } },
    root: () => ({
      commands: toolset('debian'),
      programs: {
        '/usr/local/bin/node': loaders.node,
        '/usr/local/bin/docker-entrypoint.sh': loaders.nodeEntrypoint,
      },
    }),
  },
];
