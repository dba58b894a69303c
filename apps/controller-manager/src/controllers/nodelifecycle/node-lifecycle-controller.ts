import { Leases, Nodes, Pods, type Node, type Pod } from '@tinkernetes/api';
import { findCondition, isConflict, isNotFound, isPodReady, setCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { runWorkers, settleInTurns, type Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { indexByNode, nodeIndex } from '../shared/node-index';
import { observe, silentConditions, type Heartbeat } from './health';
import { noExecuteKey, withNoExecuteTaint, withNoScheduleTaints } from './taints';
import { evictionRates, zoneOf } from './zones';

const leaseNamespace = 'kube-node-lease';

/**
 * Watches over nodes: those that fall silent become Ready=Unknown, conditions become taints, and Pods of nodes that
 * are not ready leave their Services. Source: k8s.io/kubernetes/pkg/controller/nodelifecycle.
 */
export function startNodeLifecycleController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('node_lifecycle_controller');
  const controller = new NodeLifecycleController(context, (name) => queue.add(name));
  const { clock, flags, logger, signal } = context;
  return {
    async run() {
      const timer = clock.setInterval(() => controller.checkHealth(), flags['node-monitor-period'], {
        unref: true,
      });
      controller.checkHealth();
      await runWorkers({ queue, reconciler: controller, concurrency: 8, logger, signal });
      timer.cancel();
    },
  };
}

class NodeLifecycleController implements Reconciler {
  readonly name = 'node-lifecycle-controller';
  private readonly nodes;
  private readonly leases;
  private readonly pods;
  private readonly evictions;
  private readonly heartbeats = new Map<string, Heartbeat>();
  /** Per zone, when the next node may be given a NoExecute taint. */
  private readonly nextEvictionMs = new Map<string, number>();

  constructor(
    private readonly context: ControllerContext,
    private readonly enqueue: (name: string) => void,
  ) {
    const { informers } = context;
    this.nodes = informers.for(Nodes);
    this.leases = informers.for(Leases, { namespace: leaseNamespace });
    this.pods = informers.for(Pods);
    indexByNode(this.pods);
    this.evictions = context.metrics.counter(
      'node_collector_evictions_total',
      'Number of Node evictions that happened since current instance of NodeController started.',
      ['zone'],
    );
    this.nodes.addEventHandler({
      added: (node) => enqueue(node.metadata.name),
      updated: (_, node) => enqueue(node.metadata.name),
      deleted: (node) => this.heartbeats.delete(node.metadata.name),
    });
  }

  /** Looks at every node's signs of life; only nodes that need something are queued. */
  checkHealth(): void {
    const now = this.context.clock.now();
    for (const node of this.nodes.lister.list()) {
      const { name } = node.metadata;
      this.heartbeats.set(
        name,
        observe(this.heartbeats.get(name), {
          node,
          lease: this.leases.lister.get(name, leaseNamespace),
          now,
        }),
      );
      if (this.isSilent(node, now) || noExecuteKey(node)) this.enqueue(name);
    }
  }

  async reconcile(name: string, { signal }: { signal: AbortSignal }): Promise<void> {
    const cached = this.nodes.lister.get(name);
    if (!cached) return;
    const { clock, client, recorder } = this.context;
    const now = clock.now();
    let node = cached;
    if (this.isSilent(node, now)) {
      const conditions = silentConditions(node, now);
      if (conditions !== node.status?.conditions) {
        const wasReady = findCondition(node.status?.conditions, 'Ready')?.status === 'True';
        node = await client
          .for(Nodes)
          .updateStatus({ ...node, status: { ...node.status, conditions: [...conditions] } }, { signal });
        if (wasReady)
          recorder.event(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
      }
    }
    node = await this.bringTaintsInLine(node, signal);
    if (noExecuteKey(node)) await this.markPodsNotReady(name, signal);
  }

  private async bringTaintsInLine(node: Node, signal: AbortSignal): Promise<Node> {
    const time = formatTime(this.context.clock.now());
    const noSchedule = withNoScheduleTaints(node, time);
    const key = noExecuteKey(node);
    const before = node.spec.taints ?? [];
    const isNew = key !== undefined && !before.some((t) => t.effect === 'NoExecute' && t.key === key);
    const taints = isNew && !this.mayEvict(node) ? noSchedule : withNoExecuteTaint(noSchedule, key, time);
    if (taints === before || (taints.length === 0 && before.length === 0)) return node;
    // Guarded by the resourceVersion: somebody else's taint is never lost.
    return this.context.client
      .for(Nodes)
      .update(
        { ...node, spec: { ...node.spec, taints: taints.length > 0 ? [...taints] : undefined } },
        { signal },
      );
  }

  /** Rate-limited per zone; not at all when every zone is down. The next health check comes back to those refused. */
  private mayEvict(node: Node): boolean {
    const { flags, clock } = this.context;
    const zones = new Map<string, Node[]>();
    for (const n of this.nodes.lister.list()) zones.set(zoneOf(n), [...(zones.get(zoneOf(n)) ?? []), n]);
    const zone = zoneOf(node);
    const rate = evictionRates(zones, {
      unhealthyThreshold: Number(flags['unhealthy-zone-threshold']),
      rate: Number(flags['node-eviction-rate']),
      secondaryRate: Number(flags['secondary-node-eviction-rate']),
      largeClusterSize: flags['large-cluster-size-threshold'],
    }).get(zone);
    if (!rate) return false;
    const now = clock.now();
    if (now < (this.nextEvictionMs.get(zone) ?? 0)) return false;
    this.nextEvictionMs.set(zone, now + 1000 / rate);
    this.evictions.inc({ zone });
    return true;
  }

  private async markPodsNotReady(node: string, signal: AbortSignal): Promise<void> {
    const ready = this.pods.lister.byIndex(nodeIndex, node).filter(isPodReady);
    const results = await settleInTurns(ready, (pod) => this.markNotReady(pod, signal));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  private async markNotReady(pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, clock, recorder } = this.context;
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: formatTime(clock.now()) };
    const conditions = setCondition(pod.status?.conditions, {
      ...findCondition(pod.status?.conditions, 'Ready'),
      ...condition,
    });
    try {
      await client
        .for(Pods)
        .updateStatus(
          { ...pod, status: { ...pod.status, conditions } },
          { namespace: pod.metadata.namespace, signal },
        );
      recorder.event(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  private isSilent(node: Node, now: number): boolean {
    const heartbeat = this.heartbeats.get(node.metadata.name);
    if (!heartbeat) return false;
    const isStarting = !findCondition(node.status?.conditions, 'Ready');
    const grace = isStarting
      ? this.context.flags['node-startup-grace-period']
      : this.context.flags['node-monitor-grace-period'];
    return now - heartbeat.seenAtMs > grace;
  }
}
