import type { ImageConfig, ImageDefinition } from './image';
import { defaultConfiguration } from './programs/nginx-config';
import { rootTree, type ProgramLoader, type RootOptions } from './root-tree';
import { tagsOf, type TagRules } from './tags';
import { toolset } from './toolset';

interface Entry {
  repository: string;
  tags: TagRules;
  megabytes: number;
  config: ImageConfig;
  root: RootOptions | (() => RootOptions);
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const loaders = {
  pause: async () => (await import('./programs/pause')).pause,
  helloWorld: async () => (await import('./programs/hello-world')).helloWorld,
  nginx: async () => (await import('./programs/nginx')).nginx,
  kubia: async () => (await import('./programs/kubia')).kubia,
  kubiaUnhealthy: async () => (await import('./programs/kubia')).kubiaUnhealthy,
} satisfies Record<string, ProgramLoader>;

const welcomePage = `<!DOCTYPE html>
<html>
<head><title>Welcome to nginx!</title></head>
<body>
<h1>Welcome to nginx!</h1>
<p>This page is served by an nginx that an emulated node runs. It answers real HTTP, so the network between
you and this container works.</p>
</body>
</html>
`;

const nginxVariants = [
  'alpine',
  'alpine-slim',
  'alpine3.22',
  'slim',
  'bookworm',
  'trixie',
  'perl',
  'stable',
  'mainline',
];

const entries: readonly Entry[] = [
  {
    repository: 'registry.k8s.io/pause',
    tags: { versions: { 3: 10 }, names: ['latest'] },
    megabytes: 0.3,
    config: { entrypoint: ['/pause'], user: '65535:65535', env: { PATH: path } },
    root: { programs: { '/pause': loaders.pause } },
  },
  {
    repository: 'docker.io/library/nginx',
    tags: { versions: { 1: 29 }, names: ['latest', 'stable', 'mainline'], variants: nginxVariants },
    megabytes: 72,
    config: {
      entrypoint: ['/docker-entrypoint.sh'],
      cmd: ['nginx', '-g', 'daemon off;'],
      env: { PATH: path, NGINX_VERSION: '1.29.3', PKG_RELEASE: '1~trixie' },
      stopSignal: 'SIGQUIT',
      exposedPorts: [80],
    },
    root: () => ({
      commands: toolset('debian'),
      programs: {
        '/usr/sbin/nginx': loaders.nginx,
        '/docker-entrypoint.sh': async () => (await import('./programs/entrypoint')).entrypoint,
      },
      users: { nginx: 101 },
      osRelease: osRelease('Debian GNU/Linux', 'debian', '13'),
      files: {
        '/etc/nginx/nginx.conf':
          'user  nginx;\nworker_processes  auto;\n\nevents {\n    worker_connections  1024;\n}\n\nhttp {\n    include       /etc/nginx/mime.types;\n    include /etc/nginx/conf.d/*.conf;\n}\n',
        '/etc/nginx/conf.d/default.conf': defaultConfiguration,
        '/usr/share/nginx/html/index.html': welcomePage,
        '/usr/share/nginx/html/50x.html':
          '<!DOCTYPE html>\n<title>Error</title>\n<h1>An error occurred.</h1>\n',
      },
    }),
  },
  {
    repository: 'docker.io/library/hello-world',
    tags: { names: ['latest', 'linux', 'nanoserver'] },
    megabytes: 0.01,
    config: { cmd: ['/hello'], env: { PATH: path } },
    root: { programs: { '/hello': loaders.helloWorld } },
  },
  {
    repository: 'docker.io/luksa/kubia',
    tags: { names: ['latest', 'v1', 'v2', 'v3', 'v4', '1.0', '1.1'] },
    megabytes: 250,
    config: { entrypoint: ['node', 'app.js'], env: { PATH: path }, exposedPorts: [8080] },
    root: () => ({ commands: toolset('debian'), programs: { '/usr/local/bin/node': loaders.kubia } }),
  },
  {
    repository: 'docker.io/luksa/kubia-unhealthy',
    tags: { names: ['latest'] },
    megabytes: 250,
    config: { entrypoint: ['node', 'app.js'], env: { PATH: path }, exposedPorts: [8080] },
    root: () => ({
      commands: toolset('debian'),
      programs: { '/usr/local/bin/node': loaders.kubiaUnhealthy },
    }),
  },
  shellImage(
    'busybox',
    {
      versions: { 1: 37 },
      names: ['latest', 'stable', 'musl', 'glibc', 'uclibc'],
      variants: ['musl', 'glibc', 'uclibc'],
    },
    2.2,
  ),
  shellImage('alpine', { versions: { 3: 23 }, names: ['latest', 'edge'] }, 3.8),
  shellImage('bash', { versions: { 5: 3, 4: 4 }, names: ['latest', 'devel'], variants: ['alpine3.22'] }, 6),
  shellImage(
    'debian',
    {
      versions: { 13: 2, 12: 12, 11: 11 },
      names: [
        'latest',
        'stable',
        'stable-slim',
        'trixie',
        'trixie-slim',
        'bookworm',
        'bookworm-slim',
        'bullseye',
        'bullseye-slim',
      ],
      variants: ['slim'],
    },
    48,
  ),
  shellImage(
    'ubuntu',
    {
      versions: { 26: 4, 25: 10, 24: 10, 22: 4, 20: 4, 18: 4 },
      names: ['latest', 'rolling', 'devel', 'noble', 'jammy', 'focal'],
    },
    30,
  ),
];

/** The images that can be pulled without further ado. */
export const catalogue: readonly ImageDefinition[] = entries.map(define);

function define({ repository, tags, megabytes, config, root }: Entry): ImageDefinition {
  let built: ReturnType<typeof rootTree> | undefined;
  return {
    repository,
    hasTag: tagsOf(tags),
    size: Math.round(megabytes * 1_000_000),
    config,
    root: () => (built ??= rootTree(typeof root === 'function' ? root() : root)),
  };
}

function shellImage(
  name: 'busybox' | 'alpine' | 'bash' | 'debian' | 'ubuntu',
  tags: TagRules,
  megabytes: number,
): Entry {
  const hasBash = name === 'bash' || name === 'debian' || name === 'ubuntu';
  const titles = {
    busybox: 'BusyBox',
    alpine: 'Alpine Linux',
    bash: 'Alpine Linux',
    debian: 'Debian GNU/Linux',
    ubuntu: 'Ubuntu',
  };
  return {
    repository: `docker.io/library/${name}`,
    tags,
    megabytes,
    config: {
      cmd: [
        name === 'busybox'
          ? 'sh'
          : name === 'alpine'
            ? '/bin/sh'
            : hasBash && name !== 'bash'
              ? '/bin/bash'
              : 'bash',
      ],
      env: { PATH: path },
    },
    root: () => ({
      commands: toolset(hasBash ? 'debian' : 'busybox'),
      osRelease: osRelease(
        titles[name],
        name === 'bash' ? 'alpine' : name,
        name === 'ubuntu' ? '24.04' : name === 'debian' ? '13' : '3.22.2',
      ),
    }),
  };
}

function osRelease(name: string, id: string, version: string): string {
  return `NAME="${name}"\nID=${id}\nVERSION_ID="${version}"\nPRETTY_NAME="${name} ${version}"\n`;
}
