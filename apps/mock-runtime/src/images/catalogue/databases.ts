import { path, type Entry } from './entry';
import { loaders } from './loaders';
import { toolset } from '../toolset';

export const databases: readonly Entry[] = [
  {
    repository: 'docker.io/library/redis',
    tags: { versions: { 8: 4, 7: 4, 6: 2, 5: 0 }, variants: ['alpine', 'bookworm', 'trixie'] },
    megabytes: 50,
    config: {
      entrypoint: ['docker-entrypoint.sh'],
      cmd: ['redis-server'],
      env: { PATH: path },
      workingDir: '/data',
      exposedPorts: [6379],
    },
    root: () => ({
      commands: toolset('debian'),
      users: { redis: 999 },
      programs: {
        '/usr/local/bin/redis-server': loaders.redisServer,
        '/usr/local/bin/redis-cli': loaders.redisCli,
        '/usr/local/bin/docker-entrypoint.sh': loaders.entrypoint,
      },
    }),
  },
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
        '/usr/local/bin/docker-entrypoint.sh': loaders.entrypoint,
      },
    }),
  },
];
