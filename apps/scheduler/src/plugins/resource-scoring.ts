import type { Pod } from '@tinkernetes/api';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf } from '../cache/pod-info';
import { maxNodeScore } from '../framework/types';

interface ResourceWeight {
  name: string;
  weight?: number;
}
interface ShapePoint {
  utilization: number;
  score: number;
}
interface ScoringStrategy {
  type?: string;
  resources?: ResourceWeight[];
  requestedToCapacityRatio?: { shape: ShapePoint[] };
}

/** Score of a node by one resource, from what would be requested there with the Pod, and its capacity. */
type ResourceScore = (requested: number, capacity: number) => number;

const leastAllocated: ResourceScore = (requested, capacity) =>
  capacity === 0 || requested > capacity ? 0 : Math.trunc(((capacity - requested) * maxNodeScore) / capacity);
const mostAllocated: ResourceScore = (requested, capacity) =>
  capacity === 0 ? 0 : Math.trunc((Math.min(requested, capacity) * maxNodeScore) / capacity);

/** Linear between the points of the shape, whose scores go from 0 to 10. */
function requestedToCapacityRatio(shape: readonly ShapePoint[]): ResourceScore {
  const scoreAt = (utilization: number): number => {
    const next = shape.findIndex((point) => utilization <= point.utilization);
    const [after, before] = [shape[next], shape[next - 1]];
    if (!after) return (shape[shape.length - 1]?.score ?? 0) * 10;
    if (!before) return after.score * 10;
    const part = (utilization - before.utilization) / (after.utilization - before.utilization);
    return Math.trunc((before.score + part * (after.score - before.score)) * 10);
  };
  return (requested, capacity) =>
    scoreAt(capacity === 0 || requested > capacity ? 100 : Math.trunc((requested * 100) / capacity));
}

const defaultResources: ResourceWeight[] = [{ name: 'cpu' }, { name: 'memory' }];

/** `scoringStrategy` of NodeResourcesFitArgs; LeastAllocated over CPU and memory unless told. */
export function scoringStrategy(given: unknown): (pod: Pod, node: NodeInfo) => number {
  const {
    type = 'LeastAllocated',
    resources = defaultResources,
    requestedToCapacityRatio: ratio,
  } = (given ?? {}) as ScoringStrategy;
  const byResource = {
    LeastAllocated: leastAllocated,
    MostAllocated: mostAllocated,
    RequestedToCapacityRatio: requestedToCapacityRatio(ratio?.shape ?? []),
  }[type];
  if (!byResource) throw new Error(`unknown scoringStrategy type "${type}"`);
  // What containers don't ask for counts a little, where nodes are compared by CPU and memory.
  const weighed = resources.map(({ name, weight = 1 }) => ({
    name,
    weight,
    isNonZero: name === 'cpu' || name === 'memory',
  }));
  return (pod, node) => {
    const info = podInfoOf(pod);
    let sum = 0;
    let weights = 0;
    for (const { name, weight, isNonZero } of weighed) {
      const capacity = node.allocatable.get(name);
      if (capacity === 0) continue;
      const requested = isNonZero
        ? node.nonZeroRequested.get(name) + info.nonZeroRequests.get(name)
        : node.requested.get(name) + info.requests.get(name);
      sum += byResource(requested, capacity) * weight;
      weights += weight;
    }
    return weights === 0 ? 0 : Math.trunc(sum / weights);
  };
}
