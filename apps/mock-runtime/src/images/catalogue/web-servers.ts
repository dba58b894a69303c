import { nginxFiles, nginxLinks } from './nginx-files';
import { osRelease, path, type Entry } from './entry';
import { loaders } from './loaders';
import { toolset } from '../toolset';

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

export const webServers: readonly Entry[] = [
  nginxImage('docker.io/library/nginx', { 1: 29 }),
  nginxImage('registry.k8s.io/nginx-slim', { 0: 40 }),
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
];

function nginxImage(repository: string, versions: Record<number, number>): Entry {
  return {
    repository,
    tags: { versions, names: ['latest', 'stable', 'mainline'], variants: nginxVariants },
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
      files: nginxFiles,
      links: nginxLinks,
    }),
  };
}
