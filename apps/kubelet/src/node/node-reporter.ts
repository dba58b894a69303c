import { Nodes, type ContainerImage, type Node, type NodeCondition, type NodeStatus } from '@tinkernetes/api';
import { isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { jitter, type Clock, type Logger, type Random, type Timer } from '@tinkernetes/component-base';
import type { EventRecorder } from '@tinkernetes/controller';
import { advertisedResources, noResources, type AdvertisedResources } from './advertised-resources';
import type { NodeLease } from './node-lease';
import type { RuntimeOffers } from './runtime-health';
import {
  nodeAnnotations,
  nodeLabels,
  nodeObject,
  nodeStatus,
  type NodeDevices,
  type NodeFacts,
  type NodeHealth,
} from './node-object';

export interface NodeReporterDeps {
  client: Client;
  clock: Clock;
  random: Random;
  logger: Logger;
  recorder: EventRecorder;
  lease: NodeLease;
  facts: NodeFacts;
  signal: AbortSignal;
  leaseRenewMs: number;
  /** Nodes of one process spread their heartbeats over the interval by this, from 0 to below 1. */
  heartbeatPhase: number;
  /** A status without news is still sent this often. */
  statusReportMs: number;
  health(): NodeHealth;
  images(): Promise<ContainerImage[]>;
  devices(): NodeDevices;
  runtime(): RuntimeOffers;
  registerNode: boolean;
  /** One of many nodes of a process: it spares the API server the events that say that all is well. */
  isLight: boolean;
  /** What else is done as often as the Lease is renewed. */
  onHeartbeat(): void;
}

const firstRetryMs = 50;
const maxRetryMs = 5000;

/** Registers the Node and keeps its status and Lease. Source: pkg/kubelet kubelet_node_status.go, pkg/kubelet/nodelease. */
export class NodeReporter {
  private conditions: readonly NodeCondition[] = [];
  private node: Node | undefined;
  private lastSent = '';
  private lastSentAt = 0;
  /** The Node's resourceVersion after the last report; what a watch tells of earlier ones is no news. */
  private sentVersion = 0;
  /** What was told of the Node while a report was on its way: its answer says whether that is news. */
  private unseen: Node | undefined;
  /** Resources that somebody has written into the Node's capacity. */
  private advertised: AdvertisedResources = noResources;
  private busy = false;
  private dirty = false;
  private timers: Timer[] = [];

  constructor(private readonly deps: NodeReporterDeps) {}

  /** Undefined until the Node is registered. */
  get nodeUID(): string | undefined {
    return this.node?.metadata.uid;
  }

  /** Resolves when the Node is registered; heartbeats go on until `stop`. */
  async start(): Promise<void> {
    const { clock, random, leaseRenewMs, heartbeatPhase, signal, logger } = this.deps;
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, maxRetryMs)) {
      try {
        await this.register();
        break;
      } catch (error) {
        if (signal.aborted) throw error;
        logger.warn({ err: error }, 'could not register the node, trying again');
        await clock.sleep(delay, signal);
      }
    }
    this.recordEvent('Starting', 'Starting kubelet.');
    const told = this.deps.isLight ? [] : this.conditions.filter(({ type }) => type !== 'Ready');
    for (const { reason = '' } of told) this.recordStatus(reason);
    const beat = (pauseMs: number) => {
      void this.heartbeat();
      this.timers = [clock.setTimeout(() => beat(leaseRenewMs), jitter(random, pauseMs, 0.04))];
    };
    beat(leaseRenewMs * (1 - heartbeatPhase));
  }

  stop(): void {
    for (const timer of this.timers) timer.cancel();
  }

  /** The node's health has changed: tell at once. */
  report(): void {
    this.dirty = true;
    if (!this.node || this.busy) return;
    this.busy = true;
    void this.drain();
  }

  /**
   * The Node as the API has it. Where somebody else wrote its conditions, as the node controller does with those of a
   * node that was silent, what this node knows is told again at once: without it, it would stay lost for minutes.
   */
  observe(node: Node): void {
    this.noteAdvertised(node);
    this.unseen = this.busy ? node : undefined;
    const isOlder = Number(node.metadata.resourceVersion) <= this.sentVersion;
    if (this.busy || isOlder || !this.contradicts(node)) return;
    this.conditions = node.status?.conditions ?? [];
    this.lastSent = '';
    this.report();
  }

  private noteAdvertised(node: Node): void {
    const next = advertisedResources(node, this.deps.devices().capacity);
    if (JSON.stringify(next) === JSON.stringify(this.advertised)) return;
    this.advertised = next;
    this.report();
  }

  /** A warning about the node itself. */
  warn(reason: string, message: string): void {
    this.recordEvent(reason, message, 'Warning');
  }

  private contradicts(node: Node): boolean {
    const theirs = new Map(node.status?.conditions?.map((c) => [c.type, c.status]));
    return this.conditions.some(({ type, status }) => theirs.get(type) !== status);
  }

  private async heartbeat(): Promise<void> {
    this.deps.onHeartbeat();
    this.report();
    try {
      await this.deps.lease.renew(this.node?.metadata.uid, this.deps.signal);
    } catch (error) {
      if (!this.deps.signal.aborted) this.deps.logger.warn({ err: error }, 'could not renew the node lease');
    }
  }

  private async register(): Promise<void> {
    const { client, facts, logger, registerNode } = this.deps;
    const nodes = client.for(Nodes);
    const status = await this.currentStatus();
    if (registerNode) {
      try {
        this.node = await nodes.create(nodeObject(facts, status), { signal: this.deps.signal });
        if (this.node.status?.conditions?.length) this.remember(status);
        else await this.send(status);
        logger.info({ node: facts.name }, 'node registered');
        if (this.dirty) this.report();
        return;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
    const existing = await nodes.get(facts.name);
    this.conditions = existing.status?.conditions ?? [];
    this.noteAdvertised(existing);
    const metadata = { labels: nodeLabels(facts), annotations: nodeAnnotations(facts) };
    this.node = await nodes.patch(facts.name, { metadata }, { type: 'strategic', signal: this.deps.signal });
    logger.info({ node: facts.name }, 'node was registered before');
    this.lastSent = '';
    await this.send(await this.currentStatus());
    if (this.dirty) this.report();
  }

  private async drain(): Promise<void> {
    const { clock, signal, logger } = this.deps;
    let delay = firstRetryMs;
    while (this.dirty && !signal.aborted) {
      this.dirty = false;
      try {
        await this.send(await this.currentStatus());
        delay = firstRetryMs;
      } catch (error) {
        if (signal.aborted) break;
        if (isNotFound(error))
          await this.register().catch((e: unknown) => logger.warn({ err: e }, 'could not register again'));
        logger.warn({ err: error }, 'could not report the node status, trying again');
        this.dirty = true;
        await clock.sleep(delay, signal).catch((e: unknown) => logger.debug({ err: e }, 'stopping'));
        delay = Math.min(delay * 2, maxRetryMs);
      }
    }
    this.busy = false;
    if (this.unseen && !signal.aborted) this.observe(this.unseen);
  }

  private async currentStatus(): Promise<NodeStatus> {
    const { facts, health, images, devices, runtime, clock } = this.deps;
    return nodeStatus(facts, health(), {
      previous: this.conditions,
      images: await images(),
      devices: devices(),
      advertised: this.advertised.offered,
      runtime: runtime(),
      now: clock.now(),
    });
  }

  private async send(status: NodeStatus): Promise<void> {
    const { client, facts, clock, statusReportMs, signal } = this.deps;
    const text = withoutHeartbeats(status) + JSON.stringify(this.advertised.gone);
    if (text === this.lastSent && clock.monotonic() - this.lastSentAt < statusReportMs) return;
    const addresses = [...(status.addresses ?? []), { $patch: 'replace' }];
    const allocatable = { ...status.allocatable, ...this.advertised.gone };
    const patch = { status: { ...status, addresses, allocatable } };
    const sent = await client
      .for(Nodes)
      .patch(facts.name, patch, { type: 'strategic', subresource: 'status', signal });
    this.sentVersion = Number(sent.metadata.resourceVersion);
    this.announce(status.conditions ?? []);
    this.remember(status);
  }

  private remember(status: NodeStatus): void {
    this.conditions = status.conditions ?? [];
    this.lastSent = withoutHeartbeats(status) + JSON.stringify(this.advertised.gone);
    this.lastSentAt = this.deps.clock.monotonic();
  }

  private announce(next: readonly NodeCondition[]): void {
    const { facts, logger } = this.deps;
    for (const { type, status, reason = '' } of next) {
      const before = this.conditions.find((c) => c.type === type);
      if (!before || before.status === status) continue;
      this.recordStatus(type === 'Ready' ? (status === 'True' ? 'NodeReady' : 'NodeNotReady') : reason);
      logger.info({ node: facts.name, type, status, reason }, 'node condition changed');
    }
  }

  private recordStatus(reason: string): void {
    const event = reason.replace('Kubelet', 'Node');
    this.recordEvent(event, `Node ${this.deps.facts.name} status is now: ${event}`);
  }

  /** Upstream refers to nodes in events by name where the uid should be. */
  private recordEvent(reason: string, message: string, type: 'Normal' | 'Warning' = 'Normal'): void {
    const { name } = this.deps.facts;
    this.deps.recorder.event(
      { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } },
      type,
      reason,
      message,
    );
  }
}

function withoutHeartbeats(status: NodeStatus): string {
  const conditions = (status.conditions ?? []).map(({ lastHeartbeatTime: _, ...rest }) => rest);
  return JSON.stringify({ ...status, conditions });
}
