import type { TagRules } from '../tags';
import { toolset, withCurl } from '../toolset';
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
  {
    ...shellImage('busybox', { versions: { 1: 37 }, names: ['latest'] }, 2.2),
    repository: 'registry.k8s.io/busybox',
  },
  {
    ...shellImage('busybox', { names: ['latest', 'curl'] }, 4),
    repository: 'docker.io/radial/busyboxplus',
    root: () => ({ commands: { ...toolset('busybox'), ...withCurl() } }),
  },
  {
    ...shellImage('debian', { versions: { 1: 7 } }, 76),
    repository: 'registry.k8s.io/e2e-test-images/jessie-dnsutils',
    root: () => ({ commands: { ...toolset('busybox'), ...toolset('debian') } }),
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
];

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
