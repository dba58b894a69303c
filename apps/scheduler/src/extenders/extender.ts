import type { Node, Pod } from '@tinkernetes/api';
import type { NodeInfo } from '../cache/node-info';
import type { PodInfo } from '../cache/pod-info';
import type { Candidate } from '../plugins/preemption-victims';

/** Stands for extenders among the plugins that refused a Pod. They name no events: any may help. */
export const extenderName = 'Extender';
/** Extenders score from 0 to this. */
export const maxExtenderScore = 10;

export interface FilterResult {
  nodes: readonly NodeInfo[];
  /** Node name → why. */
  failed: Readonly<Record<string, string>>;
  /** Nodes where preemption would not help. */
  unresolvable: Readonly<Record<string, string>>;
}

/**
 * A web service outside of the scheduler that takes part in its decisions.
 * Source: https://github.com/kubernetes/design-proposals-archive/blob/main/scheduling/scheduler_extender.md
 */
export interface Extender {
  readonly name: string;
  readonly weight: number;
  readonly isIgnorable: boolean;
  readonly canFilter: boolean;
  readonly canPrioritize: boolean;
  readonly canPreempt: boolean;
  readonly canBind: boolean;
  isInterested(pod: Pod): boolean;
  filter(pod: Pod, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<FilterResult>;
  /** Node name → 0…10. */
  prioritize(pod: Pod, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<Map<string, number>>;
  /** The candidates that it agrees to, perhaps with other victims. */
  preempt(pod: Pod, candidates: readonly Candidate[], context: PreemptContext): Promise<Candidate[]>;
  bind(pod: Pod, node: string, signal: AbortSignal): Promise<void>;
}
export interface PreemptContext {
  signal: AbortSignal;
  podsOn(node: string): readonly PodInfo[];
}

/** Bodies of requests and answers: Go's field names, since they have no JSON tags. */
export interface ExtenderArgs {
  Pod: Pod;
  Nodes?: { items: readonly Node[] };
  NodeNames?: readonly string[];
}
export interface ExtenderFilterResult {
  Nodes?: { items?: readonly Node[] } | null;
  NodeNames?: readonly string[] | null;
  FailedNodes?: Record<string, string> | null;
  FailedAndUnresolvableNodes?: Record<string, string> | null;
  Error?: string;
}
export type HostPriorityList = readonly { Host: string; Score: number }[];
export interface MetaVictims {
  Pods: readonly { UID: string }[] | null;
  NumPDBViolations: number;
}
export interface ExtenderPreemptionResult {
  NodeNameToMetaVictims?: Record<string, MetaVictims> | null;
}
