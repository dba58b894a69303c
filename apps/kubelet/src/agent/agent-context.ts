import type { Node, Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { RunContext, TraceParent } from '@tinkernetes/component-base';
import type { EventRecorder } from '@tinkernetes/controller';
import type { SharedRuntime } from '../node/shared-runtime';
import type { Options } from '../options';
import type { KillRequest } from '../pods/pod-workers';
import type { PodEvents } from '../runtime/pod-events';
import type { PodDirectories } from '../volumes/pod-directories';

/** What all parts of one node's agent have in common, and how they reach the others. */
export interface AgentContext {
  readonly options: Options;
  readonly context: RunContext;
  readonly client: Client;
  readonly shared: SharedRuntime;
  readonly recorder: EventRecorder;
  readonly events: PodEvents;
  readonly directories: PodDirectories;
  /** The node's API object as last seen. */
  node(): Node | undefined;
  /** Undefined until the Node is registered. */
  nodeUID(): string | undefined;
  /** Pods of the node that have not ended. */
  activePods(): Pod[];
  traceOf(pod: Pod): TraceParent | undefined;
  /** Something happened to the Pod's containers, volumes or probes. */
  wake(uid: string): void;
  /** Ends a Pod for a reason of the node's own. */
  kill(pod: Pod, request: KillRequest): void;
  /** The node's health or what it offers has changed. */
  report(): void;
}
