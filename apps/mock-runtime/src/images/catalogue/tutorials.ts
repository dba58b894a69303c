import type { ProgramLoader } from '../root-tree';
import type { TagRules } from '../tags';
import { path, type Entry } from './entry';
import { loaders } from './loaders';
import { toolset } from '../toolset';

/** What tutorials and the Kubernetes documentation deploy. */
export const tutorials: readonly Entry[] = [
  // Mounted as a volume: https://kubernetes.io/docs/tasks/configure-pod-container/image-volumes/
  {
    repository: 'quay.io/crio/artifact',
    tags: { names: ['v1', 'v2'] },
    megabytes: 0.001,
    config: {},
    root: { files: { '/dir/file': '1\n', '/file': '2\n' } },
  },
  {
    repository: 'docker.io/library/hello-world',
    tags: { names: ['latest', 'linux', 'nanoserver'] },
    megabytes: 0.01,
    config: { cmd: ['/hello'], env: { PATH: path } },
    root: { programs: { '/hello': loaders.helloWorld } },
  },
  serverImage('registry.k8s.io/hpa-example', { names: ['latest'] }, '/hpa-example', loaders.hpaExample),
  serverImage('docker.io/hashicorp/http-echo', { versions: { 0: 2, 1: 0 } }, '/http-echo', loaders.httpEcho),
  helloAppImage('us-docker.pkg.dev/google-samples/containers/gke/hello-app'),
  helloAppImage('gcr.io/google-samples/hello-app'),
  {
    ...serverImage('gcr.io/google-samples/node-hello', { names: ['1.0'] }, '/server', loaders.nodeHello),
    config: { entrypoint: ['/server'], env: { PATH: path }, exposedPorts: [8080] },
  },
  serverImage('docker.io/traefik/whoami', { versions: { 1: 11 } }, '/whoami', loaders.whoami),
  serverImage('registry.k8s.io/goproxy', { versions: { 0: 1 } }, '/goproxy', loaders.goproxy),
  serverImage(
    'quay.io/fluentd_elasticsearch/fluentd',
    { versions: { 5: 0, 3: 4, 2: 9 } },
    '/entrypoint.sh',
    loaders.fluentd,
  ),
  {
    repository: 'registry.k8s.io/etcd',
    tags: { versions: { 3: 6 }, variants: ['0', '1', '2'] },
    megabytes: 60,
    config: { cmd: ['/usr/local/bin/etcd'], env: { PATH: path } },
    root: () => ({ commands: toolset('busybox'), programs: { '/usr/local/bin/etcd': loaders.etcd } }),
  },
  bootcampImage('gcr.io/google-samples/kubernetes-bootcamp'),
  bootcampImage('docker.io/jocatalin/kubernetes-bootcamp'),
  serverImage('registry.k8s.io/echoserver', { versions: { 1: 10 } }, '/echoserver', loaders.echoServer),
  serverImage('docker.io/kicbase/echo-server', { versions: { 1: 0 } }, '/echo-server', loaders.echoServer),
  serverImage(
    'registry.k8s.io/serve_hostname',
    { versions: { 1: 4 } },
    '/serve_hostname',
    loaders.serveHostname,
  ),
  serverImage(
    'docker.io/nginxdemos/hello',
    { names: ['latest', 'plain-text', '0.4', '0.4-plain-text'] },
    '/hello',
    loaders.nginxHello,
  ),
  {
    repository: 'gcr.io/google-samples/gb-frontend',
    tags: { names: ['v4', 'v5', 'v6'] },
    megabytes: 130,
    config: { cmd: ['apache2-foreground'], env: { PATH: path } },
    root: () => ({
      commands: toolset('debian'),
      programs: { '/usr/local/bin/apache2-foreground': loaders.guestbookFrontend },
    }),
  },
  {
    repository: 'gcr.io/google-samples/gb-redis-follower',
    tags: { names: ['v1', 'v2', 'v3'] },
    megabytes: 40,
    config: { cmd: ['/bin/sh', '-c', '/run.sh'], env: { PATH: path } },
    root: () => ({
      commands: toolset('debian'),
      programs: {
        '/run.sh': loaders.guestbookFollower,
        '/usr/local/bin/redis-server': loaders.redisServer,
        '/usr/local/bin/redis-cli': loaders.redisCli,
      },
    }),
  },
  {
    repository: 'docker.io/polinux/stress',
    tags: { versions: { 1: 0 } },
    megabytes: 4,
    config: { cmd: ['stress', '--verbose'], env: { PATH: path } },
    root: () => ({ commands: toolset('busybox'), programs: { '/usr/local/bin/stress': loaders.stress } }),
  },
  {
    repository: 'docker.io/vish/stress',
    tags: { names: ['latest'] },
    megabytes: 2,
    config: { entrypoint: ['/stress', '-logtostderr'], env: { PATH: path } },
    root: { programs: { '/stress': loaders.vishStress } },
  },
];

/** Of the Kubernetes Basics tutorial: each version says which it is. */
function bootcampImage(repository: string): Entry {
  return {
    repository,
    tags: { names: ['latest', 'v1', 'v2'] },
    megabytes: 80,
    config: { cmd: ['/bin/sh', '-c', 'node server.js'], env: { PATH: path } },
    root: {
      ofTag: (tag) => ({
        commands: toolset('debian'),
        programs: {
          '/usr/local/bin/node': async () =>
            (await import('../programs/demo-servers')).bootcamp(tag === 'v2' ? '2' : '1'),
        },
      }),
    },
  };
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
        commands: toolset('busybox'),
        programs: {
          '/hello-app': async () => (await import('../programs/demo-servers')).helloApp(`${tag}.0`),
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
