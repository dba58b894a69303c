import { Leases, Nodes, Pods, type Node, type Pod } from '@tinkernetes/api';
import {
  findCondition,
  isConditionTrue,
  isNotFound,
  isPodReady,
  setCondition,
} from '@tinkernetes/apimachinery';
import { exponentialBuckets, formatTime } from '@tinkernetes/component-base';
import { allInTurns, runWorkers, type Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { indexByNode, nodeIndex } from '../shared/node-index';
import { EvictionLimiter } from './eviction-limiter';
import { observe, silentConditions, type Heartbeat } from './health';
import { hasNoExecuteTaint, noExecuteKey, withNoExecuteTaint, withNoScheduleTaints } from './taints';
import { healthOfZones } from './zones';

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
  private readonly limiter: EvictionLimiter;
  private readonly nodeTimes;
  private readonly roundTimes;
  private readonly heartbeats = new Map<string, Heartbeat>();
  /** Nodes that are not ready and whose Pods were told so: once, for their kubelets may know better. */
  private readonly marked = new Set<string>();

  constructor(
    private readonly context: ControllerContext,
    private readonly enqueue: (name: string) => void,
  ) {
    const { informers, flags, metrics } = context;
    this.nodes = informers.for(Nodes);
    this.leases = informers.for(Leases, { namespace: leaseNamespace });
    this.pods = informers.for(Pods);
    indexByNode(this.pods);
    this.nodeTimes = metrics.histogram(
      'node_collector_update_node_health_duration_seconds',
      'Duration in seconds for NodeController to update the health of a single node.',
      { buckets: exponentialBuckets(0.001, 4, 8) },
    );
    this.roundTimes = metrics.histogram(
      'node_collector_update_all_nodes_health_duration_seconds',
      'Duration in seconds for NodeController to update the health of all nodes.',
      { buckets: exponentialBuckets(0.01, 4, 8) },
    );
    this.limiter = new EvictionLimiter(
      {
        unhealthyThreshold: Number(flags['unhealthy-zone-threshold']),
        rate: Number(flags['node-eviction-rate']),
        secondaryRate: Number(flags['secondary-node-eviction-rate']),
        largeClusterSize: flags['large-cluster-size-threshold'],
      },
      metrics,
    );
    this.nodes.addEventHandler({
      added: (node) => enqueue(node.metadata.name),
      updated: (_, node) => enqueue(node.metadata.name),
      deleted: (node) => {
        const { name } = node.metadata;
        this.say(node, 'RemovingNode', `Removing Node ${name} from Controller`);
        this.heartbeats.delete(name);
        this.marked.delete(name);
      },
    });
  }

  /** Looks at every node's signs of life; only nodes that need something are queued. */
  checkHealth(): void {
    const { clock } = this.context;
    const startedAt = clock.monotonic();
    const now = clock.now();
    const nodes = this.nodes.lister.list();
    for (const node of nodes) {
      const { name } = node.metadata;
      const lease = this.leases.lister.get(name, leaseNamespace);
      if (!this.heartbeats.has(name))
        this.say(node, 'RegisteredNode', `Registered Node ${name} in Controller`);
      this.heartbeats.set(name, observe(this.heartbeats.get(name), { node, lease, now }));
    }
    // A node that is silent now is down before its conditions say so: many that fall silent at once count together.
    const isDown = (node: Node) =>
      !isConditionTrue(node.status?.conditions, 'Ready') || this.isSilent(node, now);
    // Nodes that could not be heard have time anew once any is heard again.
    if (this.limiter.update(healthOfZones(nodes, isDown))) {
      for (const [name, heartbeat] of this.heartbeats)
        this.heartbeats.set(name, { ...heartbeat, seenAtMs: now });
    }
    for (const node of nodes)
      if (this.isSilent(node, now) || noExecuteKey(node)) this.enqueue(node.metadata.name);
    this.roundTimes.observe((clock.monotonic() - startedAt) / 1000);
  }

  private say(node: Node, reason: string, what: string): void {
    const { name, uid } = node.metadata;
    const subject = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid } };
    this.context.recorder.event(subject, 'Normal', reason, `Node ${name} event: ${what}`);
  }

  async reconcile(name: string, { signal }: { signal: AbortSignal }): Promise<void> {
    const cached = this.nodes.lister.get(name);
    if (!cached) return;
    const { clock, client, recorder } = this.context;
    const startedAt = clock.monotonic();
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
    if (!noExecuteKey(node)) this.marked.delete(name);
    else if (!this.marked.has(name)) {
      await this.markPodsNotReady(name, signal);
      this.marked.add(name);
    }
    this.nodeTimes.observe((clock.monotonic() - startedAt) / 1000);
  }

  private async bringTaintsInLine(node: Node, signal: AbortSignal): Promise<Node> {
    const time = formatTime(this.context.clock.now());
    const noSchedule = withNoScheduleTaints(node, time);
    const before = node.spec.taints ?? [];
    const taints = withNoExecuteTaint(noSchedule, this.evictionKey(node), time);
    if (taints === before || (taints.length === 0 && before.length === 0)) return node;
    // Guarded by the resourceVersion: somebody else's taint is never lost.
    return this.context.client
      .for(Nodes)
      .update(
        { ...node, spec: { ...node.spec, taints: taints.length > 0 ? [...taints] : undefined } },
        { signal },
      );
  }

  /**
   * The NoExecute taint that the node is to have now. A first one waits for its zone's turn, and the next health check
   * comes back to it; one that is there changes at once; with all nodes down there is none.
   */
  private evictionKey(node: Node): string | undefined {
    const key = noExecuteKey(node);
    if (key === undefined || this.limiter.allDown) return undefined;
    const isMarked = hasNoExecuteTaint(node.spec.taints ?? []);
    return isMarked || this.limiter.mayEvict(node, this.context.clock.now()) ? key : undefined;
  }

  private async markPodsNotReady(node: string, signal: AbortSignal): Promise<void> {
    const ready = this.pods.lister.byIndex(nodeIndex, node).filter(isPodReady);
    await allInTurns(ready, (pod) => this.markNotReady(pod, signal));
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
      if (!isNotFound(error)) throw error;
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
