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

/** Requested on the node with the Pod, and capacity, for each resource that the node has. */
function utilizationWith(
  pod: Pod,
  node: NodeInfo,
  resource: string,
): { requested: number; capacity: number } {
  const info = podInfoOf(pod);
  const isNonZero = resource === 'cpu' || resource === 'memory';
  const [onNode, own] = isNonZero
    ? [node.nonZeroRequested, info.nonZeroRequests]
    : [node.requested, info.requests];
  return { requested: onNode.get(resource) + own.get(resource), capacity: node.allocatable.get(resource) };
}

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
  return (pod, node) => {
    let sum = 0;
    let weights = 0;
    for (const { name, weight = 1 } of resources) {
      const { requested, capacity } = utilizationWith(pod, node, name);
      if (capacity === 0) continue;
      sum += byResource(requested, capacity) * weight;
      weights += weight;
    }
    return weights === 0 ? 0 : Math.trunc(sum / weights);
  };
}
