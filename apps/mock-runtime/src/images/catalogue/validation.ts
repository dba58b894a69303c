import { toolset } from '../toolset';
import { path, type Entry } from './entry';

/** The images that the CRI validation suite (critest) pulls: names, users, tags of the same content. */
export const validationImages: readonly Entry[] = [
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

function validationImage(name: string, user?: string): Entry {
  return {
    repository: `gcr.io/k8s-staging-cri-tools/${name}`,
    tags: { names: ['latest'] },
    megabytes: 1,
    config: { cmd: ['sh'], user, env: { PATH: path } },
    root: () => ({ commands: toolset('busybox') }),
  };
}
