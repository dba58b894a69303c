import type { ProgramLoader } from '../root-tree';

/** Each program's code is loaded when it first runs. */
export const loaders = {
  hpaExample: async () => (await import('../programs/demo-servers')).hpaExample,
  httpEcho: async () => (await import('../programs/demo-servers')).httpEcho,
  nodeHello: async () => (await import('../programs/demo-servers')).nodeHello,
  vishStress: async () => (await import('../programs/stress')).vishStress,
  whoami: async () => (await import('../programs/demo-servers')).whoami,
  stress: async () => (await import('../programs/stress')).stress,
  pause: async () => (await import('../programs/pause')).pause,
  helloWorld: async () => (await import('../programs/hello-world')).helloWorld,
  nginx: async () => (await import('../programs/nginx/nginx')).nginx,
  kubia: async () => (await import('../programs/kubia')).kubia,
  kubiaUnhealthy: async () => (await import('../programs/kubia')).kubiaUnhealthy,
  apache: async () => (await import('../programs/busybox-httpd')).apache,
  perl: async () => (await import('../programs/perl')).perl,
  redisServer: async () => (await import('../programs/redis')).redisServer,
  redisCli: async () => (await import('../programs/redis-cli')).redisCli,
  postgres: async () => (await import('../programs/postgres')).postgres,
  pgIsReady: async () => (await import('../programs/postgres-clients')).pgIsReady,
  psql: async () => (await import('../programs/postgres-clients')).psql,
  python: async () => (await import('../programs/python')).python,
  node: async () => (await import('../programs/script-servers')).nodeJs,
  agnhost: async () => (await import('../programs/agnhost')).agnhost,
  curlEntrypoint: async () => (await import('../programs/entrypoint')).curlEntrypoint,
  entrypoint: async () => (await import('../programs/entrypoint')).entrypoint,
} satisfies Record<string, ProgramLoader>;
