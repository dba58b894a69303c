import type { ContainerStatus } from '@tinkernetes/cri';
import { toRuntimeContainer } from './pod-runtime-status';

const status = (user: ContainerStatus['user']): ContainerStatus =>
  ({
    id: 'c',
    labels: {},
    annotations: {},
    mounts: [],
    state: 'CONTAINER_RUNNING',
    user,
  }) as unknown as ContainerStatus;

it.each([
  [{ linux: { uid: 1000, gid: 3000, supplementalGroups: [2000, 3000] } }, '1000:3000:2000,3000'],
  [{ linux: { uid: 0, gid: 0, supplementalGroups: [] } }, '0:0:'],
  [null, ''],
])('keeps whom a container runs as: %j', (user, expected) => {
  expect(toRuntimeContainer(status(user), 's').user).toBe(expected);
});
