import { surplusOnNode, surplusRuns } from './container-gc';
import type { RuntimeContainer, RuntimeContainerState } from './pod-runtime-status';

/** As the kubelet has them: newest first. */
const runs = (name: string, ...created: number[]): RuntimeContainer[] =>
  created.map((at) => container(name, at));
const container = (name: string, createdAt: number, state: RuntimeContainerState = 'exited') =>
  ({ id: `${name}${createdAt}`, name, createdAt, state }) as RuntimeContainer;
const ids = (containers: readonly RuntimeContainer[]) => containers.map((c) => c.id);

describe('surplusRuns', () => {
  const pod = [container('a', 9, 'running'), ...runs('a', 8, 5, 2), ...runs('b', 7)];
  it.each([
    ['the newest ended run is kept', { maxPerContainer: 1, minAgeMs: 0 }, ['a2', 'a5']],
    ['none', { maxPerContainer: 0, minAgeMs: 0 }, ['a2', 'a5', 'b7', 'a8']],
    ['all', { maxPerContainer: -1, minAgeMs: 0 }, []],
    ['young ones', { maxPerContainer: 1, minAgeMs: 6 }, ['a2']],
  ])('%s', (_, policy, expected) => expect(ids(surplusRuns(pod, policy, 10))).toEqual(expected));
});

describe('surplusOnNode', () => {
  const pods = [runs('a', 8, 5, 2), runs('b', 7, 3), runs('c', 1)];
  it.each([
    ['nothing while there are few', 6, []],
    ['any number where there is no limit', -1, []],
    ['one of each container at least, then the oldest', 2, ['a5', 'a2', 'b3', 'c1']],
    ['an equal share of each', 4, ['a5', 'a2', 'b3']],
  ])('%s', (_, maxOnNode, expected) =>
    expect(ids(surplusOnNode(pods, { maxOnNode, minAgeMs: 0 }, 10))).toEqual(expected),
  );
});
