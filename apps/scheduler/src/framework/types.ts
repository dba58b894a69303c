import type { Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { Clock, Logger, Random } from '@tinkernetes/component-base';
import type { EventRecorder } from '@tinkernetes/controller';
import type { SharedInformerFactory } from '@tinkernetes/informers';
import type { NodeInfo } from '../cache/node-info';
import type { Snapshot } from '../cache/snapshot';
import type { PodInfo } from '../cache/pod-info';
import type { Extenders } from '../extenders/consult';
import type { QueuedPod } from '../queue/queued-pod';
import type { EventHint } from './cluster-event';
import type { CycleState } from './cycle-state';
import type { Status } from './status';

export const maxNodeScore = 100;

export interface NodeScore {
  readonly node: string;
  score: number;
}

/** Nodes that Filter need look at; undefined: all. A Status ends the attempt (or says Skip: no Filter needed). */
export interface PreFilterResult {
  readonly nodes?: ReadonlySet<string>;
  readonly status?: Status;
}

export interface PostFilterResult {
  readonly status: Status | undefined;
  /** Where the Pod will fit soon; '' clears an older nomination, undefined leaves it. */
  readonly nominatedNode?: string;
}

/**
 * A plugin: a name and the extension points that it implements. Calls up to Permit are made one Pod at a time and
 * must not wait; an undefined Status is success.
 * Source: https://kubernetes.io/docs/concepts/scheduling-eviction/scheduling-framework/
 */
export interface Plugin {
  readonly name: string;
  /** After which events a Pod that this plugin refused is tried again. Left out: after every event. */
  readonly events?: readonly EventHint[];
  /** Undefined: the Pod may enter the active queue. */
  preEnqueue?(pod: Pod): Status | undefined;
  /** QueueSort. */
  less?(a: QueuedPod, b: QueuedPod): boolean;
  preFilter?(state: CycleState, pod: Pod, snapshot: Snapshot): PreFilterResult | undefined;
  /** PreFilter extensions: keep the cycle's state right while preemption tries Pods out. */
  addPod?(state: CycleState, pod: Pod, change: { added: PodInfo; node: NodeInfo }): void;
  removePod?(state: CycleState, pod: Pod, change: { removed: PodInfo; node: NodeInfo }): void;
  filter?(state: CycleState, pod: Pod, node: NodeInfo): Status | undefined;
  postFilter?(
    state: CycleState,
    pod: Pod,
    diagnosis: Diagnosis,
  ): PostFilterResult | Promise<PostFilterResult>;
  preScore?(state: CycleState, pod: Pod, nodes: readonly NodeInfo[]): Status | undefined;
  /** Any number; NormalizeScore brings it to 0…100. */
  score?(state: CycleState, pod: Pod, node: NodeInfo): number;
  normalizeScore?(state: CycleState, pod: Pod, scores: NodeScore[]): void;
  reserve?(state: CycleState, pod: Pod, node: string): Status | undefined;
  unreserve?(state: CycleState, pod: Pod, node: string): void;
  /** `Wait` with a time: binding waits until somebody allows or rejects the Pod, or the time is over. */
  permit?(state: CycleState, pod: Pod, node: string): { status: Status | undefined; timeoutMs?: number };
  preBind?(state: CycleState, pod: Pod, node: string, signal: AbortSignal): Promise<Status | undefined>;
  bind?(state: CycleState, pod: Pod, target: BindTarget): Promise<Status | undefined>;
  postBind?(state: CycleState, pod: Pod, node: string): void;
}

export interface BindTarget {
  readonly node: string;
  readonly signal: AbortSignal;
  /** Trace context for the request. */
  readonly trace: string | undefined;
}

/** Why no node was found. */
export interface Diagnosis {
  /** By node name; nodes that were not looked at are missing and share `absentStatus`. */
  readonly statuses: Map<string, Status>;
  readonly absentStatus: Status;
  readonly unschedulablePlugins: Set<string>;
  readonly pendingPlugins: Set<string>;
  preFilterMessage?: string;
  postFilterMessage?: string;
}

/** Pods that are expected on a node soon, because others make room for them there. */
export interface Nominator {
  nominatedPods(node: string): readonly PodInfo[];
  nominate(pod: Pod, node: string): void;
  clear(pod: Pod): void;
}

/** What plugins may use. */
export interface Handle {
  readonly profile: string;
  readonly client: Client;
  readonly informers: SharedInformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly nominator: Nominator;
  readonly signal: AbortSignal;
  readonly extenders: Extenders;
  /** Counts a preemption with so many victims. */
  preempting(victims: number): void;
  /** The cluster as the cycle that is under way sees it. */
  snapshot(): Snapshot;
  /** Runs all Filter plugins, with nominated Pods of equal or higher priority taken into account. */
  filterWithNominatedPods(state: CycleState, pod: Pod, node: NodeInfo): Status | undefined;
  addPodToState(state: CycleState, pod: Pod, change: { added: PodInfo; node: NodeInfo }): void;
  removePodFromState(state: CycleState, pod: Pod, change: { removed: PodInfo; node: NodeInfo }): void;
  /** Looks again at a Pod that the plugin's PreEnqueue held back, if it still does. */
  activateHeldBack(pod: Pod, plugin: string): void;
  rejectWaitingPod(uid: string, reason: string): boolean;
}

export interface PluginFactory {
  readonly name: string;
  create(args: Readonly<Record<string, unknown>>, handle: Handle): Plugin;
}
