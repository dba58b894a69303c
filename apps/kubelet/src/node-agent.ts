import {
  Services,
  type AttachedVolume,
  type ContainerStatus,
  type Node,
  type Pod,
  type Service,
} from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';
import { createEventRecorder } from '@tinkernetes/controller';
import { join } from 'node:path';
import type { AgentContext } from './agent/agent-context';
import { NodeCare } from './agent/node-care';
import { createPodContainers } from './agent/pod-containers';
import { createPodControl, type PodControl } from './agent/pod-control';
import { createPodStorage, type PodStorage } from './agent/pod-storage';
import { DeviceManager } from './devices/device-manager';
import type { PluginRegistrar } from './devices/plugin-registrar';
import type { Observation, Signal } from './eviction/thresholds';
import type { NodeWatch } from './node/node-watch';
import type { SharedRuntime } from './node/shared-runtime';
import type { Membership } from './node/shared-watches';
import type { Options } from './options';
import type { PodResources } from './pod-resources/pod-resources';
import { isPhaseTerminal, uidOf } from './pods/pod-facts';
import { ProbeManager } from './prober/probe-manager';
import type { PodCache } from './runtime/pod-cache';
import { PodEvents } from './runtime/pod-events';
import { PodDirectories } from './volumes/pod-directories';
import { probeUserAgent } from './version';

export interface NodeAgentDeps {
  options: Options;
  context: RunContext;
  client: Client;
  watch: NodeWatch;
  shared: SharedRuntime;
  /** Where the machine's device plugins register. */
  registrar: PluginRegistrar;
  /** Whom monitoring agents of the machine ask. */
  podResources: PodResources;
  /** Of the kubelet's server. */
  port: number;
}

/** One node's agent: everything between the API server's Pods and the runtime's containers. */
export class NodeAgent {
  private readonly services: Membership<Service>;
  private readonly devices: DeviceManager;
  private readonly probes: ProbeManager;
  private readonly storage: PodStorage;
  private readonly control: PodControl;
  private readonly care: NodeCare;

  constructor(private readonly deps: NodeAgentDeps) {
    const { options, context, client, shared } = deps;
    const { clock, logger, signal } = context;
    const agent = this.contextOf(deps);
    const { events, wake } = agent;
    const { runtime, dialer } = shared;
    this.services = shared.watches.join(client, Services);
    this.devices = new DeviceManager({
      directory: join(options.rootDir, 'device-plugins'),
      registrar: deps.registrar,
      clock,
      logger,
      signal,
      activePods: () => new Set(agent.activePods().map(uidOf)),
      onChange: agent.report,
    });
    this.probes = new ProbeManager({
      runtime,
      dialer,
      clock,
      events,
      userAgent: probeUserAgent,
      onChange: wake,
    });
    const { devices, probes } = this;
    this.storage = createPodStorage(agent, () => this.wakeWaiting());
    const { storage } = this;
    const services = () => this.services.informer.lister.list();
    const containers = createPodContainers(agent, { storage, probes, devices, services });
    this.care = new NodeCare(agent, {
      containers,
      devices,
      port: deps.port,
      uids: () => this.control.pods.uids,
      stateOf: (uid) => this.control.workers.state(uid),
    });
    this.control = createPodControl(agent, {
      storage,
      containers,
      probes,
      devices,
      nodeRefusal: (pod) => this.care.refusalOf(pod),
      onFinished: () => this.care.podEnded(),
    });
  }

  /** The parts need each other: they ask for what is made later only when something happens. */
  private contextOf({ options, context, client, shared }: NodeAgentDeps): AgentContext {
    const { clock, logger, signal } = context;
    const recorder = createEventRecorder({
      client,
      component: 'kubelet',
      host: options.nodeName,
      clock,
      logger,
      signal,
      rate: options.eventRate,
    });
    return {
      options,
      context,
      client,
      shared,
      recorder,
      events: new PodEvents(recorder),
      directories: new PodDirectories(options.rootDir),
      node: () => this.node,
      nodeUID: () => this.care.reporter.nodeUID,
      activePods: () => this.podList().filter((pod) => !isPhaseTerminal(pod.status?.phase)),
      traceOf: (pod) => client.traceOf(pod),
      wake: (uid) => this.control.workers.wakeUp(uid),
      kill: (pod, request) => this.control.workers.kill(pod, request),
      report: () => this.care.reporter.report(),
    };
  }

  get cache(): PodCache {
    return this.deps.shared.cache;
  }

  /** This node's API object as last seen. */
  get node(): Node | undefined {
    return this.deps.watch.node(this.deps.options.nodeName);
  }

  /** The Pods that belong on this node, with the statuses that the node itself last computed. */
  podList(): Pod[] {
    return this.control.pods.list();
  }

  hasPod(uid: string): boolean {
    return this.control.pods.has(uid);
  }

  findPod(namespace: string, name: string): Pod | undefined {
    return this.podList().find((pod) => pod.metadata.name === name && pod.metadata.namespace === namespace);
  }

  /** How often the node's probes ended how, with upstream's labels. */
  probeCounts(): Iterable<readonly [labels: Record<string, string>, count: number]> {
    return this.probes.counts();
  }

  /** What the machine has left. */
  observe(): Promise<ReadonlyMap<Signal, Observation>> {
    return this.deps.shared.observe(this.deps.options.rootDir);
  }

  /** As the node last computed it. */
  containerStatus(pod: Pod, container: string): ContainerStatus | undefined {
    const status = this.control.statuses.get(uidOf(pod)) ?? pod.status;
    const all = [
      status?.initContainerStatuses,
      status?.containerStatuses,
      status?.ephemeralContainerStatuses,
    ].flat();
    return all.find((s) => s?.name === container);
  }

  /** Resolves when the signal has aborted and everything has ended. */
  async run(): Promise<void> {
    const { watch, options, context } = this.deps;
    const { signal, logger } = context;
    const unsubscribe = this.deps.shared.subscribe({
      owner: this.deps.options.ownerLabel,
      onPodChanged: (uid) => this.control.workers.wakeUp(uid),
      onHealthChanged: () => this.onHealthChanged(),
      onImageGCFailed: (message) => this.care.reporter.warn('ImageGCFailed', message),
    });
    try {
      await this.control.staticPods.start();
      await this.care.reporter.start();
      // Static Pods run already; now they can be shown.
      for (const uid of this.control.pods.uids) this.control.workers.wakeUp(uid);
      // Pods are admitted by the Node as it is, and get the variables of the Services that there are.
      await Promise.all([this.followNode(), this.services.informer.waitForSync(signal)]);
      await watch.followPods(
        options.nodeName,
        {
          added: (pod) => this.control.pods.added(pod),
          updated: (old, pod) => this.control.pods.updated(old, pod),
          deleted: (pod) => this.control.pods.removed(pod),
        },
        signal,
      );
      this.care.podsKnown();
      // A runtime that is slow to answer keeps nobody from seeing the node, and that it is not ready.
      this.inBackground(
        'CSI volumes',
        this.control.pods.endOrphans().then(() => this.startCsi()),
      );
      this.inBackground('device plugins', this.devices.start());
      this.inBackground('pod-resources', this.tellPodResources());
      logger.info(
        { node: this.deps.options.nodeName, pods: this.control.pods.list().length },
        'kubelet is running',
      );
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      unsubscribe();
      watch.leave(options.nodeName);
      this.control.workers.stop();
      this.control.statuses.stop();
      this.probes.stop();
      this.care.reporter.stop();
      this.control.staticPods.stop();
      this.storage.objects.stop();
      this.services.leave();
      await this.control.workers.stopped();
    }
  }

  /** The machine goes off: ends the Pods in order. Resolves when it may. */
  shutDown(): Promise<void> {
    return this.care.shutDown();
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
      this.care.reporter.observe(next);
      if (!sameNames(old.status?.volumesAttached, next.status?.volumesAttached)) this.wakeWaiting();
    };
    return watch.followNode(options.nodeName, { added: seen, updated }, context.signal);
  }

  private wakeWaiting(): void {
    for (const uid of this.storage.volumes.waiting) this.control.workers.wakeUp(uid);
  }

  /** Light nodes share the drivers of their machine: each tells of them in its own CSINode. */
  private async startCsi(): Promise<void> {
    await this.storage.csi.start();
    for (const uid of await this.storage.csi.leftovers(
      (known) => this.control.pods.has(known) || this.isWorkedOn(known),
    ))
      await this.storage.volumes.remove(uid);
  }

  private async tellPodResources(): Promise<void> {
    const { context, podResources } = this.deps;
    const leave = await podResources.join({
      devices: this.devices,
      pods: () => this.podList().filter((pod) => !isPhaseTerminal(pod.status?.phase)),
    });
    if (context.signal.aborted) leave();
    else context.signal.addEventListener('abort', leave, { once: true });
  }

  private isWorkedOn(uid: string): boolean {
    return this.control.workers.state(uid) !== undefined;
  }

  private inBackground(what: string, work: Promise<void>): void {
    const { logger, signal } = this.deps.context;
    work.catch((error: unknown) => {
      if (!signal.aborted) logger.error({ err: error }, `${what} failed`);
    });
  }

  private onHealthChanged(): void {
    this.care.reporter.report();
    if (this.deps.shared.health.notReady === undefined)
      for (const uid of this.control.pods.uids) this.control.workers.wakeUp(uid);
  }
}

const sameNames = (a: AttachedVolume[] = [], b: AttachedVolume[] = []): boolean =>
  a.map(({ name }) => name).join() === b.map(({ name }) => name).join();
