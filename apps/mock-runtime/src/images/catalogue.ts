import type { ImageConfig, ImageDefinition } from './image';
import { defaultConfiguration } from './programs/nginx-config';
import { rootTree, type ProgramLoader, type RootOptions } from './root-tree';
import { tagsOf, type TagRules } from './tags';
import { toolset, withCurl } from './toolset';

interface Entry {
  repository: string;
  tags: TagRules;
  megabytes: number;
  config: ImageConfig;
  /** With `ofTag` each tag has files of its own; else all have the same. */
  root: RootOptions | (() => RootOptions) | { ofTag(tag: string): RootOptions };
  content?: ImageDefinition['content'];
  digests?: ImageDefinition['digests'];
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const loaders = {
  hpaExample: async () => (await import('./programs/demo-servers')).hpaExample,
  httpEcho: async () => (await import('./programs/demo-servers')).httpEcho,
  whoami: async () => (await import('./programs/demo-servers')).whoami,
  stress: async () => (await import('./programs/stress')).stress,
  pause: async () => (await import('./programs/pause')).pause,
  helloWorld: async () => (await import('./programs/hello-world')).helloWorld,
  nginx: async () => (await import('./programs/nginx')).nginx,
  kubia: async () => (await import('./programs/kubia')).kubia,
  kubiaUnhealthy: async () => (await import('./programs/kubia')).kubiaUnhealthy,
  apache: async () => (await import('./programs/busybox-httpd')).apache,
  perl: async () => (await import('./programs/perl')).perl,
  redisServer: async () => (await import('./programs/redis')).redisServer,
  redisCli: async () => (await import('./programs/redis')).redisCli,
  postgres: async () => (await import('./programs/postgres')).postgres,
  pgIsReady: async () => (await import('./programs/postgres-clients')).pgIsReady,
  psql: async () => (await import('./programs/postgres-clients')).psql,
  python: async () => (await import('./programs/python')).python,
  node: async () => (await import('./programs/script-servers')).nodeJs,
  agnhost: async () => (await import('./programs/agnhost')).agnhost,
  curlEntrypoint: async () => (await import('./programs/entrypoint')).curlEntrypoint,
  entrypoint: async () => (await import('./programs/entrypoint')).entrypoint,
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

const nginxConf =
  'user  nginx;\nworker_processes  auto;\n\nevents {\n    worker_connections  1024;\n}\n\nhttp {\n    include       /etc/nginx/mime.types;\n    include /etc/nginx/conf.d/*.conf;\n}\n';

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
  pauseImage('registry.k8s.io/pause'),
  pauseImage('k8s.gcr.io/pause'),
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
        '/docker-entrypoint.sh': loaders.entrypoint,
      },
      users: { nginx: 101 },
      osRelease: osRelease('Debian GNU/Linux', 'debian', '13'),
      files: {
        '/etc/nginx/nginx.conf': nginxConf,
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
  {
    repository: 'docker.io/library/httpd',
    tags: { versions: { 2: 4 }, variants: ['alpine', 'bookworm', 'trixie'] },
    megabytes: 45,
    config: {
      cmd: ['httpd-foreground'],
      env: { PATH: `/usr/local/apache2/bin:${path}` },
      stopSignal: 'SIGWINCH',
      workingDir: '/usr/local/apache2',
      exposedPorts: [80],
    },
    root: () => ({
      commands: toolset('debian'),
      programs: { '/usr/local/bin/httpd-foreground': loaders.apache },
      files: { '/usr/local/apache2/htdocs/index.html': '<html><body><h1>It works!</h1></body></html>\n' },
    }),
  },
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
        '/usr/local/bin/docker-entrypoint.sh': loaders.entrypoint,
      },
    }),
  },
  {
    repository: 'docker.io/curlimages/curl',
    tags: { versions: { 8: 17, 7: 88 } },
    megabytes: 10,
    config: { entrypoint: ['/entrypoint.sh'], cmd: ['curl'], env: { PATH: path }, user: 'curl_user' },
    root: () => ({
      commands: { ...toolset('busybox'), ...withCurl() },
      users: { curl_user: 100 },
      programs: { '/entrypoint.sh': loaders.curlEntrypoint },
    }),
  },
  {
    repository: 'registry.k8s.io/e2e-test-images/agnhost',
    tags: { versions: { 2: 60 } },
    megabytes: 52,
    config: { entrypoint: ['/agnhost'], cmd: ['pause'], env: { PATH: path } },
    root: () => ({
      commands: { ...toolset('busybox'), ...withCurl() },
      programs: { '/agnhost': loaders.agnhost },
    }),
  },
  serverImage('registry.k8s.io/hpa-example', { names: ['latest'] }, '/hpa-example', loaders.hpaExample),
  serverImage('docker.io/hashicorp/http-echo', { versions: { 0: 2, 1: 0 } }, '/http-echo', loaders.httpEcho),
  helloAppImage('us-docker.pkg.dev/google-samples/containers/gke/hello-app'),
  helloAppImage('gcr.io/google-samples/hello-app'),
  serverImage('docker.io/traefik/whoami', { versions: { 1: 11 } }, '/whoami', loaders.whoami),
  {
    repository: 'docker.io/polinux/stress',
    tags: { versions: { 1: 0 } },
    megabytes: 4,
    config: { cmd: ['stress', '--verbose'], env: { PATH: path } },
    root: () => ({ commands: toolset('busybox'), programs: { '/usr/local/bin/stress': loaders.stress } }),
  },
  testImage('busybox', { versions: { 1: 37 } }, { cmd: ['sh'] }),
  testImage(
    'nginx',
    { versions: { 1: 29 } },
    {
      entrypoint: ['/docker-entrypoint.sh'],
      cmd: ['nginx', '-g', 'daemon off;'],
      stopSignal: 'SIGQUIT',
      exposedPorts: [80],
    },
  ),
  testImage('httpd', { versions: { 2: 4 } }, { cmd: ['httpd-foreground'], exposedPorts: [80] }),
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

/** The images that the CRI validation suite (critest) pulls: names, users, tags of the same content. */
const validationImages: readonly Entry[] = [
  validationImage('test-image-latest'),
  validationImage('test-image-1'),
  validationImage('test-image-2'),
  validationImage('test-image-3'),
  { ...validationImage('test-image-tag'), tags: { names: ['test', 'all'] } },
  {
    ...validationImage('test-image-tags'),
    tags: { names: ['1', '2', '3'] },
    content: () => 'test-image-tags',
  },
  {
    ...validationImage('test-image-digest'),
    digests: { 'sha256:9700f9a2f5bf2c45f2f605a0bd3bce7cf37420ec9d3ed50ac2758413308766bf': 'latest' },
  },
  validationImage('test-image-user-uid', '1002'),
  validationImage('test-image-user-username', 'www-data'),
  validationImage('test-image-user-uid-group', '1003:users'),
  validationImage('test-image-user-username-group', 'www-data:100'),
  {
    ...validationImage('test-image-predefined-group', '1000'),
    root: () => ({
      commands: toolset('busybox'),
      users: { 'default-user': 1000 },
      groups: { 'group-defined-in-image': { gid: 50000, members: ['default-user'] } },
    }),
  },
];

/** The images that can be pulled without further ado. */
export const catalogue: readonly ImageDefinition[] = [...entries, ...validationImages].map(define);

function define({ repository, tags, megabytes, config, root, content, digests }: Entry): ImageDefinition {
  const built = new Map<string, ReturnType<typeof rootTree>>();
  const treeOf = (tag: string) => {
    const key = 'ofTag' in root ? tag : '';
    let tree = built.get(key);
    if (!tree) {
      const options = 'ofTag' in root ? root.ofTag(tag) : typeof root === 'function' ? root() : root;
      built.set(key, (tree = rootTree(options)));
    }
    return tree;
  };
  return {
    repository,
    hasTag: tagsOf(tags),
    size: Math.round(megabytes * 1_000_000),
    config,
    content,
    digests,
    root: treeOf,
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

/** Its tags are versions that answer differently. */
function helloAppImage(repository: string): Entry {
  return {
    repository,
    tags: { names: ['1.0', '2.0'] },
    megabytes: 11,
    config: { entrypoint: ['/hello-app'], env: { PATH: path } },
    root: {
      ofTag: (tag) => ({
        programs: {
          '/hello-app': async () => (await import('./programs/demo-servers')).helloApp(`${tag}.0`),
        },
      }),
    },
  };
}

function serverImage(repository: string, tags: TagRules, program: string, loader: ProgramLoader): Entry {
  return {
    repository,
    tags: { ...tags, variants: ['alpine'] },
    megabytes: 8,
    config: { entrypoint: [program], env: { PATH: path } },
    root: { programs: { [program]: loader } },
  };
}

/** The copies that Kubernetes' own tests pull (registry.k8s.io/e2e-test-images). */
function testImage(name: string, tags: TagRules, config: ImageConfig): Entry {
  const programs: Readonly<Record<string, Readonly<Record<string, ProgramLoader>>>> = {
    nginx: { '/usr/sbin/nginx': loaders.nginx, '/docker-entrypoint.sh': loaders.entrypoint },
    httpd: { '/usr/local/bin/httpd-foreground': loaders.apache },
  };
  return {
    repository: `registry.k8s.io/e2e-test-images/${name}`,
    tags: { ...tags, variants: ['1', '2', '3', '4'] },
    megabytes: 5,
    config: { env: { PATH: path }, ...config },
    root: () => ({
      commands: toolset('busybox'),
      programs: programs[name],
      files: {
        '/etc/nginx/nginx.conf': nginxConf,
        '/etc/nginx/conf.d/default.conf': defaultConfiguration,
        '/usr/share/nginx/html/index.html': welcomePage,
        '/usr/local/apache2/htdocs/index.html': '<html><body><h1>It works!</h1></body></html>\n',
      },
    }),
  };
}

function pauseImage(repository: string): Entry {
  return {
    repository,
    tags: { versions: { 3: 10 }, names: ['latest'] },
    megabytes: 0.3,
    config: { entrypoint: ['/pause'], user: '65535:65535', env: { PATH: path } },
    root: { programs: { '/pause': loaders.pause } },
    content: (tag) => `pause:${tag}`,
  };
}

function validationImage(name: string, user?: string): Entry {
  return {
    repository: `gcr.io/k8s-staging-cri-tools/${name}`,
    tags: { names: ['latest'] },
    megabytes: 1,
    config: { cmd: ['sh'], user, env: { PATH: path } },
    root: () => ({ commands: toolset('busybox') }),
  };
}
