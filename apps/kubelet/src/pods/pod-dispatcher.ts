import type { Node, Pod } from '@tinkernetes/api';
import type { Clock, Logger, StepTracer, TraceParent } from '@tinkernetes/component-base';
import type { RuntimeClient } from '@tinkernetes/cri';
import type { AllocationManager } from '../allocation/allocation-manager';
import type { ProbeManager } from '../prober/probe-manager';
import { labels, podAnnotations } from '../runtime/labels';
import type { PodCache } from '../runtime/pod-cache';
import type { PodEvents } from '../runtime/pod-events';
import type { RuntimeManager } from '../runtime/runtime-manager';
import { refusalOf } from './admission';
import type { MirrorPods } from './mirror-pods';
import { isMirrorPod, isPhaseTerminal, isStaticPod, podText, uidOf } from './pod-facts';
import { rejection, type PodVerdict } from './pod-status';
import type { PodWorkers } from './pod-workers';
import type { StatusManager } from './status-manager';

export interface PodDispatcherDeps {
  workers: PodWorkers;
  allocations: Pick<AllocationManager, 'allocated'>;
  statuses: StatusManager;
  probes: ProbeManager;
  mirrors: MirrorPods;
  cache: PodCache;
  runtimes: RuntimeManager;
  runtime: RuntimeClient;
  events: PodEvents;
  clock: Clock;
  logger: Logger;
  tracer: StepTracer;
  signal: AbortSignal;
  nodeName: string;
  /** Of a light node: other sandboxes of the runtime are none of its business. */
  ownerLabel: string | undefined;
  node(): Node | undefined;
  /** Why the node as it is (under pressure, going down) does not take the Pod. */
  nodeRefusal(pod: Pod): PodVerdict | undefined;
  traceOf(pod: Pod): TraceParent | undefined;
}

/** Source: pkg/kubelet housekeepingPeriod. */
const housekeepingMs = 2000;

/** The Pods that belong on this node, and what their coming, changing and going means for their workers. */
export class PodDispatcher {
  private readonly byUID = new Map<string, Pod>();

  constructor(private readonly deps: PodDispatcherDeps) {}

  has(uid: string): boolean {
    return this.byUID.has(uid);
  }

  get uids(): Iterable<string> {
    return this.byUID.keys();
  }

  /** With the statuses that the node itself last computed. */
  list(): Pod[] {
    return [...this.byUID.values()].map((pod) => ({
      ...pod,
      status: this.deps.statuses.get(uidOf(pod)) ?? pod.status,
    }));
  }

  added(pod: Pod): void {
    if (isMirrorPod(pod)) return this.mirrorSeen(pod);
    this.byUID.set(uidOf(pod), pod);
    const isNew =
      !pod.metadata.deletionTimestamp && !isPhaseTerminal(pod.status?.phase) && !pod.status?.startTime;
    if (!isNew || this.admit(pod)) this.deps.workers.update(pod);
  }

  updated(old: Pod, pod: Pod): void {
    if (isMirrorPod(pod)) return this.mirrorSeen(pod);
    const { workers, statuses } = this.deps;
    const uid = uidOf(pod);
    this.byUID.set(uid, pod);
    statuses.observed(pod);
    // A finished Pod that is now being deleted has nothing to end any more.
    if (workers.state(uid) === 'finished') statuses.touch(pod);
    else if (concernsNode(old, pod)) workers.update(pod);
    else workers.refresh(pod);
  }

  removed(pod: Pod): void {
    const { mirrors, workers } = this.deps;
    if (isMirrorPod(pod)) {
      mirrors.removed(pod);
      return this.replaceMirror(pod);
    }
    const uid = uidOf(pod);
    this.byUID.delete(uid);
    if (workers.forget(uid)) this.release(pod);
    // Deleted by force: the containers still have to end, and nobody waits for them any more.
    else workers.kill(withDeletion(pod), { gracePeriodSeconds: 0 });
  }

  /** The complete set of static Pods of one source. */
  staticPods(source: 'file' | 'http', found: readonly Pod[]): void {
    const now = new Map(found.map((pod) => [uidOf(pod), pod]));
    for (const [uid, pod] of this.byUID) {
      if (pod.metadata.annotations?.[podAnnotations.configSource] !== source || now.has(uid)) continue;
      this.byUID.delete(uid);
      const gracePeriodSeconds = pod.spec.terminationGracePeriodSeconds ?? 30;
      this.deps.workers.kill(withDeletion(pod), { gracePeriodSeconds });
    }
    for (const [uid, pod] of now) if (!this.byUID.has(uid)) this.added(pod);
  }

  /** A static Pod runs whether or not the API server can be told about it. */
  async ensureMirror(pod: Pod): Promise<void> {
    const { mirrors, statuses, logger, signal } = this.deps;
    try {
      await mirrors.ensure(pod);
      statuses.touch(pod);
    } catch (error) {
      if (!signal.aborted) logger.warn({ pod: podText(pod), err: error }, 'could not create the mirror pod');
    }
  }

  /** A worker has nothing left to do. */
  finished(pod: Pod): void {
    const { statuses, workers } = this.deps;
    const uid = uidOf(pod);
    const current = this.byUID.get(uid);
    if (current) return statuses.touch(current);
    workers.forget(uid);
    this.release(pod);
  }

  /**
   * After the first list: what was deleted while the kubelet was not running. Tries again until the runtime and the API
   * server have answered; rejects only when the signal aborts. Source: pkg/kubelet HandlePodCleanups.
   */
  async endOrphans(): Promise<void> {
    const { clock, logger, signal } = this.deps;
    for (;;) {
      try {
        await this.lookForOrphans();
        return;
      } catch (error) {
        signal.throwIfAborted();
        logger.warn({ err: error }, 'could not look for containers of pods that are gone');
      }
      await clock.sleep(housekeepingMs, signal);
    }
  }

  private async lookForOrphans(): Promise<void> {
    const { runtime, workers, mirrors, logger, ownerLabel, signal } = this.deps;
    const own = ownerLabel ? { filter: { labelSelector: { [labels.nodeName]: ownerLabel } } } : {};
    const { items } = await runtime.listPodSandbox(own);
    signal.throwIfAborted();
    for (const { metadata, labels: podLabels } of items) {
      const uid = metadata?.uid || podLabels[labels.podUID];
      if (!uid || this.byUID.has(uid) || workers.state(uid)) continue;
      const pod = orphan(uid, metadata?.name ?? '', metadata?.namespace ?? '');
      logger.info({ pod: podText(pod) }, 'ending containers of a pod that is gone');
      workers.kill(pod, { gracePeriodSeconds: 1 });
    }
    await mirrors.removeOrphans([...this.byUID.values()]);
  }

  private admit(pod: Pod): boolean {
    const { clock, events, logger, node, nodeName, nodeRefusal, statuses, tracer, traceOf, workers } =
      this.deps;
    const startMs = clock.now();
    const others: Pod[] = [];
    for (const [otherUID, other] of this.byUID) {
      if (other !== pod && !isPhaseTerminal((statuses.get(otherUID) ?? other.status)?.phase))
        others.push(other);
    }
    const given = (other: Pod) => this.deps.allocations.allocated(other);
    const refusal = nodeRefusal(pod) ?? refusalOf(pod, { node: node(), others, given });
    const { name, namespace, uid } = pod.metadata;
    tracer.record('kubelet.admit', {
      parent: traceOf(pod),
      node: nodeName,
      object: { kind: 'Pod', namespace, name, uid },
      startMs,
      attributes: { admitted: !refusal, reason: refusal?.reason ?? '' },
    });
    if (!refusal) return true;
    logger.info({ pod: podText(pod), reason: refusal.reason }, 'pod refused');
    events.pod(pod, 'Warning', refusal.reason, refusal.message);
    workers.kill(pod, { verdict: rejection(refusal) });
    return false;
  }

  private mirroredBy(mirror: Pod): Pod[] {
    const { name, namespace } = mirror.metadata;
    return [...this.byUID.values()].filter(
      (p) => isStaticPod(p) && p.metadata.name === name && p.metadata.namespace === namespace,
    );
  }

  private replaceMirror(mirror: Pod): void {
    const { clock, mirrors, signal, workers } = this.deps;
    if (signal.aborted) return;
    const left = mirrors.pauseLeft(mirror);
    if (left > 0) clock.setTimeout(() => this.replaceMirror(mirror), left, { unref: true });
    else for (const pod of this.mirroredBy(mirror)) workers.wakeUp(uidOf(pod));
  }

  private mirrorSeen(mirror: Pod): void {
    const { mirrors, statuses, workers } = this.deps;
    mirrors.observed(mirror);
    for (const pod of this.mirroredBy(mirror)) {
      if (mirror.metadata.deletionTimestamp) workers.wakeUp(uidOf(pod));
      else statuses.touch(pod);
    }
  }

  /** Nothing of the Pod is on the node, nor in the API: what was kept for its logs goes. */
  private release(pod: Pod): void {
    const { statuses, probes, mirrors, cache, runtimes, logger, signal } = this.deps;
    const uid = uidOf(pod);
    statuses.forget(uid);
    probes.forget(uid);
    const failed = (error: unknown) => {
      if (!signal.aborted)
        logger.warn({ pod: podText(pod), err: error }, 'could not remove what the pod left behind');
    };
    const mirror = isStaticPod(pod) ? mirrors.of(pod) : undefined;
    if (mirror && this.mirroredBy(mirror).length === 0) mirrors.remove(mirror).catch(failed);
    cache
      .get(uid)
      .then((status) => runtimes.removePod(status))
      .catch(failed);
  }
}

/** The Pod as one that is being deleted, whatever the API server knows of it. */
const withDeletion = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: pod.metadata.deletionTimestamp ?? 'now' },
});

/** Whether there may be something to do: most changes are the node's own status reports coming back. */
function concernsNode(old: Pod, pod: Pod): boolean {
  const { generation } = pod.metadata;
  const sameSpec =
    (generation !== undefined && generation === old.metadata.generation) ||
    JSON.stringify(old.spec) === JSON.stringify(pod.spec);
  return !sameSpec || JSON.stringify(besideSpec(old)) !== JSON.stringify(besideSpec(pod));
}

const besideSpec = ({ spec, metadata, status }: Pod) => [
  metadata.labels,
  metadata.annotations,
  metadata.deletionTimestamp,
  metadata.deletionGracePeriodSeconds,
  spec.readinessGates?.map((g) => status?.conditions?.find((c) => c.type === g.conditionType)?.status),
];

/** Enough of a Pod to end its containers. */
const orphan = (uid: string, name: string, namespace: string): Pod => ({
  metadata: { uid, name, namespace, deletionTimestamp: 'now' },
  spec: { containers: [] },
});
