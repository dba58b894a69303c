import type { Pod, ResourceRequirements } from '@tinkernetes/api';
import { linuxResources } from './resources';

const numbers = (own: ResourceRequirements, ofPod?: ResourceRequirements) => {
  const container = { name: 'main', resources: own };
  const pod: Pod = { metadata: { name: 'p' }, spec: { containers: [container], resources: ofPod } };
  const { cpuShares, cpuQuota, memoryLimitInBytes } = linuxResources(pod, container, 1024 ** 3);
  return [cpuShares, cpuQuota, memoryLimitInBytes];
};
const limits = { cpu: '200m', memory: '1Ki' };

it.each<[string, ResourceRequirements, ResourceRequirements | undefined, number[]]>([
  ['nothing', {}, undefined, [2, 0, 0]],
  ['requests', { requests: { cpu: '100m', memory: '1Ki' } }, undefined, [102, 0, 0]],
  ['limits, which are requests too', { limits }, undefined, [204, 20_000, 1024]],
  ['the smallest quota', { limits: { cpu: '1m' } }, undefined, [2, 1000, 0]],
  ['limits of the Pod', {}, { limits }, [204, 20_000, 1024]],
  ['limits of its own before the Pod’s', { limits: { cpu: '100m' } }, { limits }, [102, 10_000, 1024]],
])('turns %s into cgroup numbers', (_, own, ofPod, expected) => {
  expect(numbers(own, ofPod)).toEqual(expected);
});
