import type { Pod } from '@tinkernetes/api';
import type { DeviceManager } from '../devices/device-manager';
import { EvictionManager } from '../eviction/eviction-manager';
import { podConsumption } from '../eviction/pod-consumption';
import { NodeLease } from '../node/node-lease';
import { NodeReporter } from '../node/node-reporter';
import type { PodVerdict } from '../pods/pod-status';
import type { WorkerState } from '../pods/pod-workers';
import { sysctlRefusal } from '../pods/sysctls';
import { podUsages } from '../server/stats-summary';
import { ShutdownManager } from '../shutdown/shutdown-manager';
import type { AgentContext } from './agent-context';
import type { PodContainers } from './pod-containers';

export interface NodeCareParts {
  containers: PodContainers;
  devices: DeviceManager;
  /** Of the kubelet's server. */
  port: number;
  uids(): Iterable<string>;
  stateOf(uid: string): WorkerState | undefined;
}

/** How the node itself is, what that means for its Pods, and what the API server is told of it. */
export class NodeCare {
  readonly reporter: NodeReporter;
  private readonly eviction: EvictionManager;
  private readonly shutdown: ShutdownManager;
  private knowsAllPods = false;

  constructor(
    private readonly agent: AgentContext,
    private readonly parts: NodeCareParts,
  ) {
    this.shutdown = this.createShutdown();
    this.eviction = this.createEviction();
    this.reporter = this.createReporter();
  }

  /** The API server has told of all Pods of the node. */
  podsKnown(): void {
    this.knowsAllPods = true;
    void this.eviction.check();
  }

  /** Why the node under pressure, or going down, or whatever runs on it, does not take the Pod. */
  refusalOf(pod: Pod): PodVerdict | undefined {
    return (
      this.shutdown.refusal ??
      this.eviction.refusalOf(pod) ??
      sysctlRefusal(pod, this.agent.options.allowedUnsafeSysctls)
    );
  }

  /** A Pod has ended. */
  podEnded(): void {
    this.shutdown.ended();
  }

  /** The machine goes off: ends the Pods in order. Resolves when it may. */
  shutDown(): Promise<void> {
    return this.shutdown.shutDown();
  }

  private createShutdown(): ShutdownManager {
    const { options, context, activePods, kill, report } = this.agent;
    const { clock, logger, signal } = context;
    return new ShutdownManager({
      clock,
      logger,
      periods: options.shutdownPeriods,
      signal,
      activePods,
      kill,
      hasEnded: (uid) => ['terminated', 'finished'].includes(this.parts.stateOf(uid) ?? 'finished'),
      onStart: report,
    });
  }

  private createEviction(): EvictionManager {
    const { options, context, shared, events, directories, activePods, kill, report } = this.agent;
    const { clock, logger } = context;
    const { runtime } = shared;
    const { podLogsDir } = options;
    return new EvictionManager({
      clock,
      logger,
      thresholds: options.evictionThresholds,
      pressureTransitionMs: options.pressureTransitionMs,
      maxPodGraceSeconds: options.evictionMaxPodGraceSeconds,
      observe: () => shared.observe(options.rootDir),
      knowsAllPods: () => this.knowsAllPods,
      activePods,
      reclaimDisk: () => this.reclaimDisk(),
      consumption: async (pods) => {
        const own = new Set(this.parts.uids());
        const usages = await podUsages({ runtime }, { hasPod: (uid) => own.has(uid) });
        return podConsumption(pods, usages, { directories, podLogsDir });
      },
      evict: (pod, verdict, gracePeriodSeconds) => {
        events.pod(pod, 'Warning', verdict.reason, verdict.message);
        kill(pod, { verdict, gracePeriodSeconds });
      },
      onPressure: (resource) =>
        this.reporter.warn('EvictionThresholdMet', `Attempting to reclaim ${resource}`),
      onChange: report,
    });
  }

  private createReporter(): NodeReporter {
    const { options, context, client, shared, recorder } = this.agent;
    const { clock, random, logger, signal } = context;
    const { nodeName } = options;
    const { machine, version, overlayEndpoint } = shared.facts;
    return new NodeReporter({
      client,
      clock,
      random,
      logger,
      recorder,
      signal,
      lease: new NodeLease({ client, clock, nodeName, durationSeconds: options.leaseDurationSeconds }),
      facts: {
        name: nodeName,
        addresses: options.nodeIPs,
        port: this.parts.port,
        labels: options.nodeLabels,
        taints: options.taints,
        machine,
        runtimeVersion: `${version.runtimeName}://${version.runtimeVersion}`,
        overlayEndpoint,
      },
      leaseRenewMs: options.nodeStatusUpdateMs,
      heartbeatPhase: options.heartbeatPhase,
      statusReportMs: options.nodeStatusReportMs,
      health: () => ({
        notReady: this.shutdown.notReady ?? shared.health.notReady,
        memoryPressure: this.eviction.conditions.has('MemoryPressure'),
        diskPressure: this.eviction.conditions.has('DiskPressure'),
        pidPressure: this.eviction.conditions.has('PIDPressure'),
      }),
      images: () => shared.nodeImages(),
      devices: () => this.parts.devices.offered(),
      runtime: () => shared.health.offered,
      registerNode: options.registerNode,
      isLight: options.ownerLabel !== undefined,
      onHeartbeat: () => this.lookAround(),
    });
  }

  /** What else is done as often as the Lease is renewed. */
  private lookAround(): void {
    const { shared } = this.agent;
    shared.heartbeat();
    void this.eviction.check();
    void this.parts.containers.logs.rotate(shared.cache.containers(this.parts.uids()));
    void this.collectGarbage();
  }

  private async reclaimDisk(): Promise<void> {
    const { shared } = this.agent;
    for (const uid of this.parts.uids()) {
      const status = shared.cache.peek(uid);
      if (status) await this.parts.containers.runtimes.removeEnded(status);
    }
    await shared.deleteUnusedImages();
  }

  private async collectGarbage(): Promise<void> {
    const { context, shared } = this.agent;
    const known = [...this.parts.uids()].flatMap((uid) => shared.cache.peek(uid) ?? []);
    try {
      await this.parts.containers.runtimes.collectGarbageOnNode(known);
    } catch (error) {
      if (!context.signal.aborted) context.logger.warn({ err: error }, 'could not remove ended containers');
    }
  }
}
