import type { PluginFactory } from '../framework/types';
import { balancedAllocation } from './balanced-allocation';
import { defaultBinder } from './default-binder';
import { dynamicResources } from './dynamic-resources';
import { defaultPreemption } from './default-preemption';
import { imageLocality } from './image-locality';
import { interPodAffinity } from './inter-pod-affinity';
import { nodeAffinity } from './node-affinity';
import { nodeName } from './node-name';
import { nodePorts } from './node-ports';
import { nodeResourcesFit } from './node-resources-fit';
import { nodeUnschedulable } from './node-unschedulable';
import { podTopologySpread } from './pod-topology-spread';
import { nodeVolumeLimits } from './node-volume-limits';
import { prioritySort } from './priority-sort';
import { schedulingGates } from './scheduling-gates';
import { taintToleration } from './taint-toleration';
import { volumeBinding } from './volume-binding';
import { volumeRestrictions } from './volume-restrictions';
import { volumeZone } from './volume-zone';

/**
 * All plugins that there are, with the weight of their scores, in the order in which the default profile runs them.
 * Source: pkg/scheduler/apis/config/v1/default_plugins.go.
 */
export const pluginRegistry: readonly { factory: PluginFactory; weight: number }[] = [
  { factory: schedulingGates, weight: 0 },
  { factory: prioritySort, weight: 0 },
  { factory: nodeUnschedulable, weight: 0 },
  { factory: nodeName, weight: 0 },
  { factory: taintToleration, weight: 3 },
  { factory: nodeAffinity, weight: 2 },
  { factory: nodePorts, weight: 0 },
  { factory: nodeResourcesFit, weight: 1 },
  { factory: volumeRestrictions, weight: 0 },
  { factory: nodeVolumeLimits, weight: 0 },
  { factory: volumeBinding, weight: 0 },
  { factory: volumeZone, weight: 0 },
  { factory: podTopologySpread, weight: 2 },
  { factory: interPodAffinity, weight: 2 },
  { factory: dynamicResources, weight: 0 },
  { factory: defaultPreemption, weight: 0 },
  { factory: balancedAllocation, weight: 1 },
  { factory: imageLocality, weight: 1 },
  { factory: defaultBinder, weight: 0 },
];
