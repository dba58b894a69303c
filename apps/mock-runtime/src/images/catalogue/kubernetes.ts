import type { ImageConfig } from '../image';
import { nginxFiles, nginxLinks } from './nginx-files';
import type { ProgramLoader } from '../root-tree';
import type { TagRules } from '../tags';
import { toolset, withNetworkTools } from '../toolset';
import { path, type Entry } from './entry';
import { loaders } from './loaders';

/** Kubernetes' own images, for sandboxes and tests. */
export const kubernetesImages: readonly Entry[] = [
  pauseImage('registry.k8s.io/pause'),
  pauseImage('k8s.gcr.io/pause'),
  {
    repository: 'registry.k8s.io/e2e-test-images/agnhost',
    tags: { versions: { 2: 60 } },
    megabytes: 52,
    config: { entrypoint: ['/agnhost'], cmd: ['pause'], env: { PATH: path } },
    root: () => ({
      commands: { ...toolset('busybox'), ...withNetworkTools() },
      programs: { '/agnhost': loaders.agnhost },
    }),
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
];

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
        ...nginxFiles,
        '/usr/local/apache2/htdocs/index.html': '<html><body><h1>It works!</h1></body></html>\n',
      },
      links: nginxLinks,
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
