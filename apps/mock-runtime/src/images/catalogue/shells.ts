import type { TagRules } from '../tags';
import { toolset, withCurl, withNetworkTools } from '../toolset';
import { osRelease, path, type Entry } from './entry';
import { loaders } from './loaders';

/** Distributions: a shell and its tools. */
export const shells: readonly Entry[] = [
  shellImage(
    'busybox',
    {
      versions: { 1: 37 },
      names: ['latest', 'stable', 'musl', 'glibc', 'uclibc'],
      variants: ['musl', 'glibc', 'uclibc'],
    },
    2.2,
  ),
  aliasOf('registry.k8s.io/busybox', 'busybox'),
  aliasOf('quay.io/prometheus/busybox', 'busybox'),
  {
    ...shellImage('busybox', { names: ['latest', 'curl'] }, 4),
    repository: 'docker.io/radial/busyboxplus',
    root: () => ({ commands: { ...toolset('busybox'), ...withCurl() } }),
  },
  networkImage('registry.k8s.io/e2e-test-images/jessie-dnsutils', { versions: { 1: 7 } }),
  networkImage('docker.io/tutum/dnsutils', {}),
  networkImage('docker.io/infoblox/dnstools', { names: ['latest', 'v2', 'v3'] }),
  networkImage('docker.io/nicolaka/netshoot', { versions: { 0: 14 }, names: ['latest'] }),
  networkImage('docker.io/wbitt/network-multitool', { names: ['latest', 'alpine-minimal', 'alpine-extra'] }),
  networkImage('docker.io/praqma/network-multitool', { names: ['latest'] }),
  {
    ...curlImage('docker.io/alpine/curl'),
    config: { entrypoint: ['curl'], cmd: ['-h'], env: { PATH: path } },
  },
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
  distribution('docker.io/library/fedora', { versions: { 43: 0, 42: 0, 41: 0, 40: 0 } }, 'Fedora Linux'),
  distribution(
    'docker.io/library/centos',
    { names: ['latest', '7', '8', 'centos7', 'centos8'] },
    'CentOS Linux',
  ),
  distribution('docker.io/library/amazonlinux', { names: ['latest', '2', '2023'] }, 'Amazon Linux'),
  distribution('docker.io/library/rockylinux', { names: ['8', '9', '9-minimal'] }, 'Rocky Linux'),
  curlImage('docker.io/curlimages/curl'),
];

/** The same image in another registry. */
function aliasOf(repository: string, name: 'busybox'): Entry {
  return { ...shellImage(name, { versions: { 1: 37 }, names: ['latest'] }, 2.2), repository };
}

/** Images for debugging networks: `kubectl debug -it … --image=nicolaka/netshoot`. */
function networkImage(repository: string, tags: TagRules): Entry {
  return {
    repository,
    tags,
    megabytes: 80,
    config: { cmd: ['bash'], env: { PATH: path } },
    root: () => ({ commands: { ...toolset('busybox'), ...toolset('debian'), ...withNetworkTools() } }),
  };
}

function distribution(repository: string, tags: TagRules, title: string): Entry {
  const id = repository.slice(repository.lastIndexOf('/') + 1);
  return {
    repository,
    tags,
    megabytes: 60,
    config: { cmd: ['/bin/bash'], env: { PATH: path } },
    root: () => ({ commands: toolset('debian'), osRelease: osRelease(title, id, '') }),
  };
}

function curlImage(repository: string): Entry {
  return {
    repository,
    tags: { versions: { 8: 17, 7: 88 } },
    megabytes: 10,
    config: { entrypoint: ['/entrypoint.sh'], cmd: ['curl'], env: { PATH: path }, user: 'curl_user' },
    root: () => ({
      commands: { ...toolset('busybox'), ...withCurl() },
      users: { curl_user: 100 },
      programs: { '/entrypoint.sh': loaders.curlEntrypoint },
    }),
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
