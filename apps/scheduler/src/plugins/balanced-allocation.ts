import type { Pod } from '@tinkernetes/api';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf } from '../cache/pod-info';
import { skip } from '../framework/status';
import { maxNodeScore, type PluginFactory } from '../framework/types';

const name = 'NodeResourcesBalancedAllocation';

interface Args {
  resources?: { name: string }[];
}

/** Prefers nodes whose resources would be used to similar parts: high score where the fractions deviate little. */
export const balancedAllocation: PluginFactory = {
  name,
  create(args) {
    const resources = ((args as Args).resources ?? [{ name: 'cpu' }, { name: 'memory' }]).map((r) => r.name);
    return {
      name,
      // A Pod that asks for nothing changes no balance.
      preScore(_state, pod) {
        const { requests } = podInfoOf(pod);
        return resources.every((resource) => requests.get(resource) === 0) ? skip : undefined;
      },
      score: (_state, pod, node) => balanceWith(pod, node, resources),
    };
  },
};

function balanceWith(pod: Pod, node: NodeInfo, resources: readonly string[]): number {
  const { requests } = podInfoOf(pod);
  const fractions: number[] = [];
  for (const resource of resources) {
    const capacity = node.allocatable.get(resource);
    if (capacity === 0) continue;
    fractions.push(Math.min(1, (node.requested.get(resource) + requests.get(resource)) / capacity));
  }
  return Math.trunc((1 - standardDeviation(fractions)) * maxNodeScore);
}

function standardDeviation(values: readonly number[]): number {
  const [first = 0, second = 0] = values;
  if (values.length < 2) return 0;
  if (values.length === 2) return Math.abs(first - second) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
