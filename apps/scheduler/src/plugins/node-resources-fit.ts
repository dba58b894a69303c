import type { Node, Pod } from '@tinkernetes/api';
import { quantitiesOf } from '@tinkernetes/apimachinery';
import { podInfoOf } from '../cache/pod-info';
import { Resources } from '../cache/resources';
import type { NodeInfo } from '../cache/node-info';
import { nodeOf, type ClusterEvent } from '../framework/cluster-event';
import { unresolvable, unschedulable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { scoringStrategy } from './resource-scoring';

const name = 'NodeResourcesFit';

interface Args {
  ignoredResources?: string[];
  ignoredResourceGroups?: string[];
  scoringStrategy?: unknown;
}

/** Enough free CPU, memory, ephemeral storage, extended resources and Pod slots. */
export const nodeResourcesFit: PluginFactory = {
  name,
  create(args) {
    const { ignoredResources = [], ignoredResourceGroups = [] } = args as Args;
    const isIgnored = (resource: string) =>
      ignoredResources.includes(resource) || ignoredResourceGroups.includes(resource.split('/')[0] ?? '');
    const score = scoringStrategy((args as Args).scoringStrategy);
    return {
      name,
      events: [
        { resource: 'AssignedPod', actions: ['Delete', 'UpdatePodScaleDown'] },
        { resource: 'UnscheduledPod', actions: ['UpdatePodScaleDown'] },
        { resource: 'Node', actions: ['Add', 'UpdateNodeAllocatable'], hint: emptyNodeFits },
      ],
      filter(_state, pod, node) {
        const { requests } = podInfoOf(pod);
        if (fits(requests, node)) return undefined;
        const missing = insufficientResources(requests, node, isIgnored);
        if (missing.length === 0) return undefined;
        const reasons = missing.map(({ reason }) => reason);
        return missing.some(({ never }) => never) ? unresolvable(...reasons) : unschedulable(...reasons);
      },
      score: (_state, pod, node) => score(pod, node),
    };
  },
};

/** The usual case, found out without making anything. */
const fits = ({ milliCpu, memory, ephemeralStorage, scalars }: Resources, node: NodeInfo): boolean => {
  const { allocatable, requested } = node;
  return (
    node.pods.length < allocatable.pods &&
    scalars.size === 0 &&
    (milliCpu === 0 || milliCpu <= allocatable.milliCpu - requested.milliCpu) &&
    (memory === 0 || memory <= allocatable.memory - requested.memory) &&
    (ephemeralStorage === 0 || ephemeralStorage <= allocatable.ephemeralStorage - requested.ephemeralStorage)
  );
};

interface Insufficient {
  reason: string;
  /** The node would not do even when it is empty. */
  never: boolean;
}

function insufficientResources(
  requests: Resources,
  { pods, requested, allocatable }: NodeInfo,
  isIgnored: (resource: string) => boolean = () => false,
): Insufficient[] {
  const missing: Insufficient[] = [];
  if (pods.length + 1 > allocatable.pods) missing.push({ reason: 'Too many pods', never: false });
  const check = (resource: string, asked: number) => {
    if (asked <= 0) return;
    const all = allocatable.get(resource);
    if (asked > all - requested.get(resource))
      missing.push({ reason: `Insufficient ${resource}`, never: asked > all });
  };
  check('cpu', requests.milliCpu);
  check('memory', requests.memory);
  check('ephemeral-storage', requests.ephemeralStorage);
  for (const [resource, asked] of requests.scalars) if (!isIgnored(resource)) check(resource, asked);
  return missing;
}

/** A new or larger node helps only a Pod that would fit on it if nothing else ran there. */
function emptyNodeFits(pod: Pod, event: ClusterEvent): boolean {
  const node: Node | undefined = nodeOf(event);
  if (!node) return true;
  const allocatable = Resources.of(quantitiesOf(node.status?.allocatable));
  const { requests } = podInfoOf(pod);
  const hasRoom = (resource: string, asked: number) => asked <= allocatable.get(resource);
  return (
    allocatable.pods > 0 &&
    hasRoom('cpu', requests.milliCpu) &&
    hasRoom('memory', requests.memory) &&
    hasRoom('ephemeral-storage', requests.ephemeralStorage) &&
    [...requests.scalars].every(([resource, asked]) => hasRoom(resource, asked))
  );
}
