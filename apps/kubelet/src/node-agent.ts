import { Nodes, Pods, Services, type Node, type Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';
import { createEventRecorder } from '@tinkernetes/controller';
import type { ImageClient, RuntimeClient, VersionResponse } from '@tinkernetes/cri';
import { createSharedInformerFactory } from '@tinkernetes/informers';
import type { Dialer } from '@tinkernetes/vnet';
import { ImageManager } from './images/image-manager';
import { nodeImages } from './node/images';
import type { Machine } from './node/machine';
import { NodeLease } from './node/node-lease';
import { NodeReporter } from './node/node-reporter';
import { RuntimeHealth } from './node/runtime-health';
import type { Options } from './options';
import { PLEG } from './pleg/pleg';
import { refusalOf } from './pods/admission';
import { isPhaseTerminal, podText, uidOf } from './pods/pod-facts';
import { createPodInputs } from './pods/pod-inputs';
import { createPodSyncer } from './pods/pod-syncer';
import { PodWorkers } from './pods/pod-workers';
import { StatusGenerator } from './pods/status-generator';
import { StatusManager } from './pods/status-manager';
import { ProbeManager } from './prober/probe-manager';
import { ContainerKiller } from './runtime/container-killer';
import { labels } from './runtime/labels';
import { PodCache } from './runtime/pod-cache';
import { PodEvents } from './runtime/pod-events';
import { RuntimeManager } from './runtime/runtime-manager';
import { ObjectWatcher } from './volumes/object-watcher';
import { PodDirectories } from './volumes/pod-directories';
import { TokenManager } from './volumes/token-manager';
import { VolumeManager } from './volumes/volume-manager';
import { probeUserAgent } from './version';

export interface NodeAgentDeps {
  options: Options;
  context: RunContext;
  client: Client;
  runtime: RuntimeClient;
  images: ImageClient;
  version: VersionResponse;
  dialer: Dialer;
  machine: Machine;
  overlayEndpoint: string | undefined;
  /** Of the kubelet's server. */
  port: number;
}

/** One node's agent: everything between the API server's Pods and the runtime's containers. */
export class NodeAgent {
  readonly workers: PodWorkers;
  readonly statuses: StatusManager;
  readonly cache: PodCache;
  readonly events: PodEvents;
  private readonly pods = new Map<string, Pod>();
  private readonly probes: ProbeManager;
  private readonly pleg: PLEG;
  private readonly health: RuntimeHealth;
  private readonly reporter: NodeReporter;
  private readonly runtimes: RuntimeManager;
  private readonly informers;
  private readonly podInformer;
  private readonly nodeInformer;
  private readonly serviceInformer;
  private sourcesReady = false;

  constructor(private readonly deps: NodeAgentDeps) {
    const { options, context, client, runtime, images, version, dialer, machine } = deps;
    const { clock, random, logger, tracer, signal } = context;
    const { nodeName, nodeIPs: hostIPs } = options;
    const recorder = createEventRecorder({
      client,
      component: 'kubelet',
      host: nodeName,
      clock,
      logger,
      signal,
    });
    const traceOf = (pod: Pod) => client.traceOf(pod);
    const wake = (uid: string) => this.workers.wakeUp(uid);
    const runtimeName = version.runtimeName;
    const directories = new PodDirectories(options.rootDir);
    const dns = {
      clusterDNS: options.clusterDNS,
      clusterDomain: options.clusterDomain,
      resolvConf: options.resolvConf,
    };
    const hooks = { runtime, dialer, clock, userAgent: probeUserAgent };

    this.informers = createSharedInformerFactory({ client, clock, random, logger, signal });
    this.podInformer = this.informers.for(Pods, { fieldSelector: `spec.nodeName=${nodeName}` });
    this.nodeInformer = this.informers.for(Nodes, { fieldSelector: `metadata.name=${nodeName}` });
    this.serviceInformer = this.informers.for(Services);

    this.events = new PodEvents(recorder);
    const events = this.events;
    this.cache = new PodCache(runtime);
    const cache = this.cache;
    this.probes = new ProbeManager({
      runtime,
      dialer,
      clock,
      events,
      userAgent: probeUserAgent,
      onChange: wake,
    });
    const probes = this.probes;
    this.statuses = new StatusManager({
      client,
      clock,
      logger,
      tracer,
      nodeName,
      traceOf,
      signal,
      canBeDeleted: (uid) => this.workers.state(uid) === 'finished',
    });
    const statuses = this.statuses;
    const volumes = new VolumeManager({ client, clock, random, directories, events });
    const objects = new ObjectWatcher({ client, clock, random, logger, signal, onChange: wake });
    const killer = new ContainerKiller({ ...hooks, events, logger });
    const node = () => this.node;
    const services = () => this.serviceInformer.lister.list();
    this.runtimes = new RuntimeManager({
      ...hooks,
      images: new ImageManager({ images, events, clock, serializePulls: options.serializeImagePulls }),
      cache,
      killer,
      inputs: createPodInputs({
        objects,
        volumes,
        directories,
        random,
        dns,
        podLogsDir: options.podLogsDir,
        hostIPs,
        node,
        services,
      }),
      events,
      probes,
      logger,
      tracer,
      nodeName,
      memoryCapacity: machine.memoryBytes,
      maxCrashBackOffMs: options.maxCrashBackOffMs,
    });
    this.health = new RuntimeHealth({
      runtime,
      clock,
      logger,
      signal,
      onChange: () => this.onHealthChanged(),
    });
    this.workers = new PodWorkers({
      clock,
      random,
      logger,
      syncFrequencyMs: options.syncFrequencyMs,
      onFinished: (pod) => this.onFinished(pod),
      syncer: createPodSyncer({
        runtimes: this.runtimes,
        cache,
        statuses,
        generator: new StatusGenerator({ statuses, probes, clock, runtimeName, hostIPs }),
        probes,
        volumes,
        tokens: new TokenManager(client, clock, random),
        objects,
        health: this.health,
        directories,
        events,
        clock,
        logger,
        tracer,
        podLogsDir: options.podLogsDir,
        nodeName,
        hostIPs,
        node,
        traceOf,
        requestKill: (pod, request) => this.workers.kill(pod, request),
      }),
    });
    this.pleg = new PLEG({
      runtime,
      cache,
      clock,
      logger,
      signal,
      onPodChanged: (uid) => this.onPodChanged(uid),
      onRelist: (error) => this.health.report(error),
    });
    this.reporter = new NodeReporter({
      client,
      clock,
      random,
      logger,
      recorder,
      signal,
      lease: new NodeLease({ client, clock, nodeName, durationSeconds: options.leaseDurationSeconds }),
      facts: {
        name: nodeName,
        addresses: hostIPs,
        port: deps.port,
        labels: options.nodeLabels,
        taints: options.taints,
        machine,
        runtimeVersion: `${version.runtimeName}://${version.runtimeVersion}`,
        overlayEndpoint: deps.overlayEndpoint,
      },
      leaseRenewMs: options.nodeStatusUpdateMs,
      statusReportMs: options.nodeStatusReportMs,
      health: () => ({
        notReady: this.health.notReady,
        memoryPressure: false,
        diskPressure: false,
        pidPressure: false,
      }),
      images: () => nodeImages(images).catch(() => []),
      registerNode: options.registerNode,
    });
  }

  /** This node's API object as last seen. */
  get node(): Node | undefined {
    return this.nodeInformer.lister.get(this.deps.options.nodeName);
  }

  /** The Pods that belong on this node, with the statuses that the node itself last computed. */
  podList(): Pod[] {
    return [...this.pods.values()].map((pod) => ({
      ...pod,
      status: this.statuses.get(uidOf(pod)) ?? pod.status,
    }));
  }

  findPod(namespace: string, name: string): Pod | undefined {
    return this.podList().find((pod) => pod.metadata.name === name && pod.metadata.namespace === namespace);
  }

  /** `CrashLoopBackOff`, `ContainerCreating` … of a container that does not run. */
  waitingReason(pod: Pod, container: string): string | undefined {
    const status = this.statuses.get(uidOf(pod)) ?? pod.status;
    const all = [
      status?.initContainerStatuses,
      status?.containerStatuses,
      status?.ephemeralContainerStatuses,
    ].flat();
    return all.find((s) => s?.name === container)?.state?.waiting?.reason;
  }

  /** Resolves when the signal has aborted and everything has ended. */
  async run(): Promise<void> {
    const { signal, logger } = this.deps.context;
    this.health.check();
    const pleg = this.pleg.run();
    try {
      await this.reporter.start();
      this.watchNode();
      this.watchPods();
      this.informers.start();
      await Promise.all([this.podInformer.waitForSync(signal), this.serviceInformer.waitForSync(signal)]);
      this.sourcesReady = true;
      await this.endOrphans();
      logger.info({ node: this.deps.options.nodeName, pods: this.pods.size }, 'kubelet is running');
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.workers.stop();
      this.statuses.stop();
      this.probes.stop();
      this.reporter.stop();
      await Promise.all([pleg, this.informers.stopped(), this.health.settled(), this.workers.stopped()]);
    }
  }

  private watchNode(): void {
    const seen = ({ spec }: Node) => {
      if (!spec?.podCIDR) return;
      const { context } = this.deps;
      this.health.setPodCIDR(spec.podCIDR).catch((error: unknown) => {
        if (!context.signal.aborted)
          context.logger.error({ err: error }, 'could not hand the pod CIDR to the runtime');
      });
    };
    this.nodeInformer.addEventHandler({ added: seen, updated: (_old, next) => seen(next) });
  }

  private watchPods(): void {
    this.podInformer.addEventHandler({
      added: (pod) => this.onPodAdded(pod),
      updated: (old, pod) => this.onPodUpdated(old, pod),
      deleted: (pod) => this.onPodRemoved(pod),
    });
  }

  private onPodAdded(pod: Pod): void {
    this.pods.set(uidOf(pod), pod);
    const { logger, tracer } = this.deps.context;
    const ended = pod.metadata.deletionTimestamp ?? (isPhaseTerminal(pod.status?.phase) || undefined);
    if (!ended && !pod.status?.startTime) {
      const { name, namespace, uid } = pod.metadata;
      const startMs = this.deps.context.clock.now();
      const others = [...this.pods.values()].filter(
        (p) => p !== pod && !isPhaseTerminal(p.status?.phase) && !this.isRefused(p),
      );
      const refusal = refusalOf(pod, { node: this.node, others });
      tracer.record('kubelet.admit', {
        parent: this.deps.client.traceOf(pod),
        node: this.deps.options.nodeName,
        object: { kind: 'Pod', namespace, name, uid },
        startMs,
        attributes: { admitted: !refusal, reason: refusal?.reason ?? '' },
      });
      if (refusal) {
        logger.info({ pod: podText(pod), reason: refusal.reason }, 'pod refused');
        this.events.pod(pod, 'Warning', refusal.reason, refusal.message);
        this.workers.kill(pod, { verdict: refusal });
        return;
      }
    }
    this.workers.update(pod);
  }

  private isRefused(pod: Pod): boolean {
    return isPhaseTerminal(this.statuses.get(uidOf(pod))?.phase);
  }

  private onPodUpdated(old: Pod, pod: Pod): void {
    const uid = uidOf(pod);
    this.pods.set(uid, pod);
    // A finished Pod that is now being deleted has nothing to end any more.
    if (this.workers.state(uid) === 'finished') this.statuses.touch(pod);
    else if (concernsNode(old, pod)) this.workers.update(pod);
    else this.workers.refresh(pod);
  }

  private onPodRemoved(pod: Pod): void {
    const uid = uidOf(pod);
    this.pods.delete(uid);
    if (this.workers.forget(uid)) {
      this.release(pod);
      return;
    }
    // Deleted by force: the containers still have to end.
    this.workers.kill(
      { ...pod, metadata: { ...pod.metadata, deletionTimestamp: pod.metadata.deletionTimestamp ?? 'now' } },
      {
        gracePeriodSeconds: pod.metadata.deletionGracePeriodSeconds ?? 0,
      },
    );
  }

  private onFinished(pod: Pod): void {
    const uid = uidOf(pod);
    if (this.pods.has(uid)) {
      this.statuses.touch(this.pods.get(uid) ?? pod);
      return;
    }
    this.workers.forget(uid);
    this.release(pod);
  }

  private release(pod: Pod): void {
    const uid = uidOf(pod);
    this.statuses.forget(uid);
    this.probes.forget(uid);
    const { logger, signal } = this.deps.context;
    this.cache
      .get(uid)
      .then((status) => this.runtimes.removePod(status))
      .catch((error: unknown) => {
        if (!signal.aborted)
          logger.warn({ pod: podText(pod), err: error }, 'could not remove what the pod left in the runtime');
      });
  }

  private onHealthChanged(): void {
    this.reporter.report();
    if (this.health.notReady === undefined) for (const uid of this.pods.keys()) this.workers.wakeUp(uid);
  }

  private onPodChanged(uid: string): void {
    if (this.workers.state(uid) !== undefined) this.workers.wakeUp(uid);
  }

  /** Containers of Pods that were deleted while the kubelet was not running. */
  private async endOrphans(): Promise<void> {
    const { runtime, context } = this.deps;
    const { items } = await runtime.listPodSandbox();
    for (const { metadata, labels: podLabels } of items) {
      const uid = metadata?.uid || podLabels[labels.podUID];
      if (!uid || !this.sourcesReady || this.pods.has(uid) || this.workers.state(uid)) continue;
      context.logger.info(
        { pod: `${metadata?.name}_${metadata?.namespace}(${uid})` },
        'ending containers of a pod that is gone',
      );
      this.workers.kill(orphan(uid, metadata?.name ?? '', metadata?.namespace ?? ''), {
        gracePeriodSeconds: 1,
      });
    }
  }
}

/** Whether there may be something to do: most changes are the node's own status reports coming back. */
function concernsNode(old: Pod, pod: Pod): boolean {
  const relevant = ({ spec, metadata, status }: Pod) =>
    JSON.stringify([
      spec,
      metadata.labels,
      metadata.annotations,
      metadata.deletionTimestamp,
      metadata.deletionGracePeriodSeconds,
      spec.readinessGates?.map((g) => status?.conditions?.find((c) => c.type === g.conditionType)?.status),
    ]);
  return relevant(old) !== relevant(pod);
}

/** Enough of a Pod to end its containers. */
const orphan = (uid: string, name: string, namespace: string): Pod => ({
  metadata: { uid, name, namespace, deletionTimestamp: 'now' },
  spec: { containers: [] },
});
