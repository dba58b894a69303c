import { path, type Entry } from './entry';
import { loaders } from './loaders';
import type { TagRules } from '../tags';
import { toolset } from '../toolset';

const redisVersions = { versions: { 8: 4, 7: 4, 6: 2, 5: 0 }, variants: ['alpine', 'bookworm', 'trixie'] };

export const databases: readonly Entry[] = [
  redisImage('docker.io/library/redis', redisVersions, 'redis'),
  redisImage('registry.k8s.io/redis', { names: ['e2e', 'v1'] }, 'redis'),
  redisImage('docker.io/valkey/valkey', { versions: { 9: 0, 8: 1, 7: 2 }, variants: ['alpine'] }, 'valkey'),
  {
    repository: 'docker.io/library/postgres',
    tags: {
      versions: { 18: 1, 17: 7, 16: 11, 15: 15, 14: 20, 13: 23 },
      variants: ['alpine', 'bookworm', 'trixie'],
    },
    megabytes: 160,
    config: {
      entrypoint: ['docker-entrypoint.sh'],
      cmd: ['postgres'],
      env: { PATH: path, PGDATA: '/var/lib/postgresql/18/docker' },
      stopSignal: 'SIGINT',
      exposedPorts: [5432],
    },
    root: () => ({
      commands: toolset('debian'),
      users: { postgres: 999 },
      programs: {
        '/usr/local/bin/postgres': loaders.postgres,
        '/usr/local/bin/pg_isready': loaders.pgIsReady,
        '/usr/local/bin/psql': loaders.psql,
        '/usr/local/bin/docker-entrypoint.sh': loaders.postgresEntrypoint,
      },
    }),
  },
];

function redisImage(repository: string, tags: TagRules, name: 'redis' | 'valkey'): Entry {
  return {
    repository,
    tags,
    megabytes: 50,
    config: {
      entrypoint: ['docker-entrypoint.sh'],
      cmd: [`${name}-server`],
      env: { PATH: path },
      workingDir: '/data',
      exposedPorts: [6379],
    },
    root: () => ({
      commands: toolset('debian'),
      users: { [name]: 999 },
      programs: {
        [`/usr/local/bin/${name}-server`]: loaders.redisServer,
        [`/usr/local/bin/${name}-cli`]: loaders.redisCli,
        '/usr/local/bin/docker-entrypoint.sh': loaders[`${name}Entrypoint`],
      },
    }),
  };
}
