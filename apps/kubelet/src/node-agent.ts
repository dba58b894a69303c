import { Services, type AttachedVolume, type Node, type Pod, type Service } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';
import { createEventRecorder } from '@tinkernetes/controller';
import { join } from 'node:path';
import { AllocationManager } from './allocation/allocation-manager';
import { AllocationStore } from './allocation/allocation-store';
import { DeviceManager } from './devices/device-manager';
import { EvictionManager } from './eviction/eviction-manager';
import { podConsumption } from './eviction/pod-consumption';
import { ImageManager } from './images/image-manager';
import { NodeLease } from './node/node-lease';
import { NodeReporter } from './node/node-reporter';
import type { NodeWatch } from './node/node-watch';
import type { RuntimeHealth } from './node/runtime-health';
import type { SharedRuntime } from './node/shared-runtime';
import type { Membership } from './node/shared-watches';
import type { Options } from './options';
import { MirrorPods } from './pods/mirror-pods';
import { PodDispatcher } from './pods/pod-dispatcher';
import { isPhaseTerminal, isStaticPod, uidOf } from './pods/pod-facts';
import { createPodInputs } from './pods/pod-inputs';
import { createPodSyncer } from './pods/pod-syncer';
import { PodWorkers } from './pods/pod-workers';
import { StatusGenerator } from './pods/status-generator';
import { StatusManager } from './pods/status-manager';
import { ProbeManager } from './prober/probe-manager';
import { ContainerKiller } from './runtime/container-killer';
import { ContainerResizer } from './runtime/container-resizer';
import { ContainerStarter } from './runtime/container-starter';
import { LogRotator } from './runtime/log-rotator';
import type { PodCache } from './runtime/pod-cache';
import { PodEvents } from './runtime/pod-events';
import { RuntimeManager } from './runtime/runtime-manager';
import { podUsages } from './server/stats-summary';
import { ShutdownManager } from './shutdown/shutdown-manager';
import { StaticPodSource } from './sources/static-pod-source';
import { ClaimVolumes } from './volumes/claim-volumes';
import { CsiVolumes } from './volumes/csi/csi-volumes';
import { ObjectWatcher } from './volumes/object-watcher';
import { PodDirectories } from './volumes/pod-directories';
import { TokenManager } from './volumes/token-manager';
import { TrustBundles } from './volumes/trust-bundles';
import { VolumeManager } from './volumes/volume-manager';
import { probeUserAgent } from './version';

export interface NodeAgentDeps {
  options: Options;
  context: RunContext;
  client: Client;
  watch: NodeWatch;
  shared: SharedRuntime;
  /** Of the kubelet's server. */
  port: number;
}

/** One node's agent: everything between the API server's Pods and the runtime's containers. */
export class NodeAgent {
  readonly workers: PodWorkers;
  readonly statuses: StatusManager;
  readonly cache: PodCache;
  readonly events: PodEvents;
  private readonly pods: PodDispatcher;
  private readonly probes: ProbeManager;
  private readonly health: RuntimeHealth;
  private readonly reporter: NodeReporter;
  private readonly runtimes: RuntimeManager;
  private readonly logs: LogRotator;
  private readonly eviction: EvictionManager;
  private readonly shutdown: ShutdownManager;
  private readonly services: Membership<Service>;
  private readonly objects: ObjectWatcher;
  private readonly staticPods: StaticPodSource;
  private readonly csi: CsiVolumes;
  private readonly volumes: VolumeManager;
  private readonly devices: DeviceManager;

  constructor(private readonly deps: NodeAgentDeps) {
    const { options, context, client, shared } = deps;
    const { runtime, images, dialer, cache } = shared;
    const { machine, version, overlayEndpoint } = shared.facts;
    const { clock, random, logger, tracer, signal } = context;
    const { nodeName, nodeIPs: hostIPs, ownerLabel } = options;
    const recorder = createEventRecorder({
      client,
      component: 'kubelet',
      host: nodeName,
      clock,
      logger,
      signal,
      rate: options.eventRate,
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

    this.services = shared.watches.join(client, Services);

    this.events = new PodEvents(recorder);
    const events = this.events;
    this.cache = cache;
    this.health = shared.health;
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
      apiPodOf: (pod) => (isStaticPod(pod) ? mirrors.of(pod) : pod),
      canBeDeleted: (uid) => this.workers.state(uid) === 'finished',
    });
    const statuses = this.statuses;
    const mirrors = new MirrorPods({
      client,
      logger,
      signal,
      nodeName,
      nodeUID: () => this.reporter.nodeUID,
    });
    this.staticPods = new StaticPodSource({
      clock,
      logger,
      nodeName,
      path: options.staticPodPath,
      url: options.staticPodURL,
      fileCheckMs: options.fileCheckMs,
      httpCheckMs: options.httpCheckMs,
      onPods: (source, found) => this.pods.staticPods(source, found),
    });
    const tokens = new TokenManager(client, clock, random);
    const csi = new CsiVolumes({
      client,
      tokens,
      logger,
      signal,
      rootDir: options.rootDir,
      registryDir: options.pluginsRegistryDir,
      nodeName,
      nodeUID: () => this.reporter.nodeUID,
      node: () => this.node,
      events,
      onDriver: () => this.wakeWaiting(),
    });
    const claims = new ClaimVolumes({ client, csi });
    const volumes = new VolumeManager({
      claims,
      csi,
      trustBundles: new TrustBundles(client),
      clock,
      random,
      directories,
      events,
    });
    this.csi = csi;
    this.volumes = volumes;
    this.objects = new ObjectWatcher({
      client,
      watches: shared.watches,
      clock,
      signal,
      onChange: wake,
    });
    const objects = this.objects;
    const killer = new ContainerKiller({ ...hooks, cache, events, logger });
    const node = () => this.node;
    const services = () => this.services.informer.lister.list();
    this.devices = new DeviceManager({
      directory: join(options.rootDir, 'device-plugins'),
      clock,
      logger,
      signal,
      activePods: () => new Set(activePods().map(uidOf)),
      onChange: () => this.reporter.report(),
    });
    const devices = this.devices;
    const inputs = createPodInputs({
      objects,
      volumes,
      devices,
      directories,
      random,
      dns,
      podLogsDir: options.podLogsDir,
      ownerLabel,
      hostIPs,
      node,
      services,
    });
    const activePods = () => this.pods.list().filter((pod) => !isPhaseTerminal(pod.status?.phase));
    const allocations = new AllocationManager({
      store: new AllocationStore(join(options.rootDir, 'allocated_pods_state'), logger),
      events,
      node,
      activePods,
    });
    const resizer = new ContainerResizer(runtime, machine.memoryBytes);
    const starter = new ContainerStarter({
      ...hooks,
      images: new ImageManager({ images, events, clock, serializePulls: options.serializeImagePulls }),
      cache,
      killer,
      resizer,
      inputs,
      events,
      logger,
      tracer,
      nodeName,
      memoryCapacity: machine.memoryBytes,
      maxCrashBackOffMs: options.maxCrashBackOffMs,
    });
    this.runtimes = new RuntimeManager({
      runtime,
      starter,
      killer,
      resizer,
      cache,
      inputs,
      events,
      probes,
      logger,
      tracer,
      clock,
      gcPolicy: {
        minAgeMs: options.minContainerAgeMs,
        maxPerContainer: options.maxDeadContainersPerContainer,
        maxOnNode: options.maxDeadContainers,
      },
      nodeName,
    });
    this.logs = new LogRotator({
      runtime,
      clock,
      logger,
      maxSize: options.containerLogMaxSize,
      maxFiles: options.containerLogMaxFiles,
    });
    this.workers = new PodWorkers({
      clock,
      random,
      logger,
      syncFrequencyMs: options.syncFrequencyMs,
      onFinished: (pod) => {
        this.pods.finished(pod);
        this.shutdown.ended();
        for (const uid of allocations.deferred()) this.workers.wakeUp(uid);
      },
      syncer: createPodSyncer({
        runtimes: this.runtimes,
        allocations,
        cache,
        statuses,
        generator: new StatusGenerator({
          statuses,
          probes,
          clock,
          allocations,
          resizer,
          runtimeName,
          hostIPs,
        }),
        probes,
        volumes,
        tokens,
        devices,
        objects,
        health: this.health,
        starts: shared.starts,
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
        ensureMirror: (pod) => this.pods.ensureMirror(pod),
      }),
    });
    this.shutdown = new ShutdownManager({
      clock,
      logger,
      periods: options.shutdownPeriods,
      signal,
      activePods,
      kill: (pod, request) => this.workers.kill(pod, request),
      hasEnded: (uid) => ['terminated', 'finished'].includes(this.workers.state(uid) ?? 'finished'),
      onStart: () => this.reporter.report(),
    });
    this.eviction = new EvictionManager({
      clock,
      logger,
      thresholds: options.evictionThresholds,
      pressureTransitionMs: options.pressureTransitionMs,
      maxPodGraceSeconds: options.evictionMaxPodGraceSeconds,
      observe: () => shared.observe(options.rootDir),
      activePods,
      reclaimDisk: async () => {
        for (const uid of this.pods.uids) {
          const status = cache.peek(uid);
          if (status) await this.runtimes.removeEnded(status);
        }
        await shared.deleteUnusedImages();
      },
      consumption: async (pods) =>
        podConsumption(pods, await podUsages({ runtime }, this), {
          directories,
          podLogsDir: options.podLogsDir,
        }),
      evict: (pod, verdict, gracePeriodSeconds) => {
        events.pod(pod, 'Warning', verdict.reason, verdict.message);
        this.workers.kill(pod, { verdict, gracePeriodSeconds });
      },
      onPressure: (resource) =>
        this.reporter.warn('EvictionThresholdMet', `Attempting to reclaim ${resource}`),
      onChange: () => this.reporter.report(),
    });
    this.pods = new PodDispatcher({
      workers: this.workers,
      allocations,
      statuses,
      probes,
      mirrors,
      cache,
      runtimes: this.runtimes,
      runtime,
      events,
      clock,
      logger,
      tracer,
      signal,
      nodeName,
      ownerLabel,
      node,
      nodeRefusal: (pod) => this.shutdown.refusal ?? this.eviction.refusalOf(pod),
      traceOf,
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
        overlayEndpoint,
      },
      leaseRenewMs: options.nodeStatusUpdateMs,
      heartbeatPhase: options.heartbeatPhase,
      statusReportMs: options.nodeStatusReportMs,
      health: () => ({
        notReady: this.shutdown.notReady ?? this.health.notReady,
        memoryPressure: this.eviction.conditions.has('MemoryPressure'),
        diskPressure: this.eviction.conditions.has('DiskPressure'),
        pidPressure: this.eviction.conditions.has('PIDPressure'),
      }),
      images: () => shared.nodeImages(),
      devices: () => devices.offered(),
      registerNode: options.registerNode,
      onHeartbeat: () => {
        shared.heartbeat();
        void this.eviction.check();
        void this.logs.rotate(cache.containers(this.pods.uids));
        void this.collectGarbage();
      },
    });
  }

  /** This node's API object as last seen. */
  get node(): Node | undefined {
    return this.deps.watch.node(this.deps.options.nodeName);
  }

  /** The Pods that belong on this node, with the statuses that the node itself last computed. */
  podList(): Pod[] {
    return this.pods.list();
  }

  hasPod(uid: string): boolean {
    return this.pods.has(uid);
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
    const { watch, options, context } = this.deps;
    const { signal, logger } = context;
    const unsubscribe = this.deps.shared.subscribe({
      owner: this.deps.options.ownerLabel,
      onPodChanged: (uid) => this.workers.wakeUp(uid),
      onHealthChanged: () => this.onHealthChanged(),
      onImageGCFailed: (message) => this.reporter.warn('ImageGCFailed', message),
    });
    try {
      await this.staticPods.start();
      await this.reporter.start();
      // Static Pods run already; now they can be shown.
      for (const uid of this.pods.uids) this.workers.wakeUp(uid);
      // Pods are admitted by the Node as it is, and get the variables of the Services that there are.
      await Promise.all([this.followNode(), this.services.informer.waitForSync(signal)]);
      await watch.followPods(
        options.nodeName,
        {
          added: (pod) => this.pods.added(pod),
          updated: (old, pod) => this.pods.updated(old, pod),
          deleted: (pod) => this.pods.removed(pod),
        },
        signal,
      );
      await this.pods.endOrphans();
      this.inBackground('CSI volumes', this.startCsi());
      // Light nodes have no hardware of their own.
      if (!this.deps.options.ownerLabel) this.inBackground('device plugins', this.devices.start());
      logger.info({ node: this.deps.options.nodeName, pods: this.pods.list().length }, 'kubelet is running');
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      unsubscribe();
      watch.leave(options.nodeName);
      this.workers.stop();
      this.statuses.stop();
      this.probes.stop();
      this.reporter.stop();
      this.staticPods.stop();
      this.objects.stop();
      this.services.leave();
      await this.workers.stopped();
    }
  }

  /** The machine goes off: ends the Pods in order. Resolves when it may. */
  shutDown(): Promise<void> {
    return this.shutdown.shutDown();
  }

  private async collectGarbage(): Promise<void> {
    const { context, shared } = this.deps;
    const known = [...this.pods.uids].flatMap((uid) => shared.cache.peek(uid) ?? []);
    try {
      await this.runtimes.collectGarbageOnNode(known);
    } catch (error) {
      if (!context.signal.aborted) context.logger.warn({ err: error }, 'could not remove ended containers');
    }
  }

  private followNode(): Promise<void> {
    const { context, options, watch } = this.deps;
    const seen = ({ spec }: Node) => {
      if (!spec?.podCIDR) return;
      const { shared } = this.deps;
      shared.setPodCIDR(options.nodeName, spec.podCIDR).catch((error: unknown) => {
        if (!context.signal.aborted)
          context.logger.error({ err: error }, 'could not hand the pod CIDR to the runtime');
      });
    };
    const updated = (old: Node, next: Node) => {
      seen(next);
      this.reporter.observe(next);
      if (!sameNames(old.status?.volumesAttached, next.status?.volumesAttached)) this.wakeWaiting();
    };
    return watch.followNode(options.nodeName, { added: seen, updated }, context.signal);
  }

  private wakeWaiting(): void {
    for (const uid of this.volumes.waiting) this.workers.wakeUp(uid);
  }

  /** Light nodes share the drivers of their machine: each tells of them in its own CSINode. */
  private async startCsi(): Promise<void> {
    await this.csi.start();
    for (const uid of await this.csi.leftovers((known) => this.pods.has(known) || this.isWorkedOn(known)))
      await this.volumes.remove(uid);
  }

  private isWorkedOn(uid: string): boolean {
    return this.workers.state(uid) !== undefined;
  }

  private inBackground(what: string, work: Promise<void>): void {
    const { logger, signal } = this.deps.context;
    work.catch((error: unknown) => {
      if (!signal.aborted) logger.error({ err: error }, `${what} failed`);
    });
  }

  private onHealthChanged(): void {
    this.reporter.report();
    if (this.health.notReady === undefined) for (const uid of this.pods.uids) this.workers.wakeUp(uid);
  }
}

const sameNames = (a: AttachedVolume[] = [], b: AttachedVolume[] = []): boolean =>
  a.map(({ name }) => name).join() === b.map(({ name }) => name).join();
