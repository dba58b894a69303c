import type { ContainerImage } from '@tinkernetes/api';
import type { FinishedStep, RunContext } from '@tinkernetes/component-base';
import {
  createImageClient,
  createRuntimeClient,
  type ImageClient,
  type RuntimeClient,
  type VersionResponse,
} from '@tinkernetes/cri';
import { createVnetClient, hostDialer, type Dialer, type VnetClient } from '@tinkernetes/vnet';
import { statfs } from 'node:fs/promises';
import { observeNode, type Disks } from '../eviction/node-signals';
import type { Observation, Signal } from '../eviction/thresholds';
import { ImageGarbageCollector } from '../images/image-garbage-collector';
import type { Options } from '../options';
import { PLEG } from '../pleg/pleg';
import { StartGate } from '../pods/start-gate';
import { PodCache } from '../runtime/pod-cache';
import { mergeRanges } from './address-ranges';
import { NodeImages } from './images';
import { describeMachine, type Machine } from './machine';
import { RuntimeHealth } from './runtime-health';
import { SharedWatches } from './shared-watches';
import type { StepForwarder } from './step-forwarder';

export interface RuntimeListener {
  /** Its label on sandboxes; left out: the node has the runtime to itself. */
  owner: string | undefined;
  onPodChanged(uid: string): void;
  onHealthChanged(): void;
  /** Unused images were too few to free the disk. */
  onImageGCFailed(message: string): void;
}

/** What the runtime is and was at the start. */
interface RuntimeFacts {
  machine: Machine;
  version: VersionResponse;
  overlayEndpoint: string | undefined;
}

/**
 * The container runtime and the machine, as all nodes of this process see them: usually one, many light ones with
 * `--nodes`. There is one event stream, one cache and one look at the health, however many nodes listen.
 */
export class SharedRuntime {
  readonly cache: PodCache;
  readonly health: RuntimeHealth;
  readonly watches: SharedWatches;
  readonly starts: StartGate;
  private readonly listeners = new Set<RuntimeListener>();
  private readonly byOwner = new Map<string, RuntimeListener>();
  private readonly pleg: PLEG;
  private readonly imageGC: ImageGarbageCollector;
  private readonly podCIDRs = new Map<string, string>();
  private handingOver: Promise<void> = Promise.resolve();
  private isNextWaiting = false;
  private healthCheckedAt = -Infinity;
  private observed: { at: number; signals: Promise<ReadonlyMap<Signal, Observation>> } | undefined;
  private readonly nodeImageList: NodeImages;
  private imageList: { at: number; images: Promise<ContainerImage[]> } | undefined;

  private constructor(
    private readonly context: RunContext,
    private readonly clients: RuntimeClients,
    readonly facts: RuntimeFacts,
    private readonly options: Pick<Options, 'imageGCHigh' | 'imageGCLow' | 'imageMinimumGCAgeMs'>,
  ) {
    const { imageGCHigh, imageGCLow, imageMinimumGCAgeMs } = options;
    const { clock, logger, signal } = context;
    const { runtime } = clients;
    this.cache = new PodCache(runtime, clock);
    this.nodeImageList = new NodeImages(clients.images);
    this.watches = new SharedWatches(context);
    this.starts = new StartGate(clock);
    this.health = new RuntimeHealth({
      runtime,
      clock,
      logger,
      signal,
      onChange: () => {
        for (const listener of this.listeners) listener.onHealthChanged();
      },
    });
    this.imageGC = new ImageGarbageCollector({
      images: clients.images,
      runtime,
      clock,
      logger,
      highThreshold: imageGCHigh,
      lowThreshold: imageGCLow,
      minimumAgeMs: imageMinimumGCAgeMs,
      async space(mountpoint) {
        const { bavail, blocks, bsize } = await statfs(mountpoint);
        return { available: bavail * bsize, capacity: blocks * bsize };
      },
    });
    this.pleg = new PLEG({
      runtime,
      cache: this.cache,
      clock,
      logger,
      signal,
      onPodChanged: (uid, owner) => this.tell(uid, owner),
      onRelist: (error) => this.health.report(error),
    });
  }

  /** Waits until the runtime answers. */
  static async connect(
    options: Options,
    context: RunContext,
    forwarder: StepForwarder,
  ): Promise<SharedRuntime> {
    const { signal, logger } = context;
    const calls = {
      timeoutMs: options.runtimeRequestTimeoutMs,
      signal,
      onSteps: (steps: readonly FinishedStep[]) => forwarder.forward(steps),
    };
    const clients: RuntimeClients = {
      runtime: createRuntimeClient(options.runtimeEndpoint, calls),
      images: createImageClient(options.imageEndpoint, calls),
      vnet: options.vnetEndpoint ? createVnetClient(options.vnetEndpoint) : undefined,
    };
    try {
      const [machine, version, overlayEndpoint] = await Promise.all([
        describeMachine(options),
        clients.runtime.version({}, { waitForReady: true, signal, timeoutMs: 0 }),
        overlayOf(clients.vnet),
      ]);
      logger.info(
        { runtime: version.runtimeName, version: version.runtimeVersion },
        'container runtime found',
      );
      return new SharedRuntime(context, clients, { machine, version, overlayEndpoint }, options);
    } catch (error) {
      close(clients);
      throw error;
    }
  }

  get runtime(): RuntimeClient {
    return this.clients.runtime;
  }

  get images(): ImageClient {
    return this.clients.images;
  }

  get dialer(): Dialer {
    return this.clients.vnet ?? hostDialer;
  }

  /** Returns how to stop listening. */
  subscribe(listener: RuntimeListener): () => void {
    this.listeners.add(listener);
    if (listener.owner !== undefined) this.byOwner.set(listener.owner, listener);
    return () => {
      this.listeners.delete(listener);
      if (listener.owner !== undefined && this.byOwner.get(listener.owner) === listener)
        this.byOwner.delete(listener.owner);
    };
  }

  /** One node of thousands; all of them only where it is not known whose Pod it was. */
  private tell(uid: string, owner: string | undefined): void {
    const known = owner === undefined ? undefined : this.byOwner.get(owner);
    if (known) known.onPodChanged(uid);
    else for (const listener of this.listeners) listener.onPodChanged(uid);
  }

  /**
   * Hands the ranges of all nodes to the runtime, as few as possible and comma separated as those of a dual-stack node;
   * those that come while it takes others go there together.
   */
  setPodCIDR(nodeName: string, podCIDR: string): Promise<void> {
    if (this.podCIDRs.get(nodeName) === podCIDR) return this.handingOver;
    this.podCIDRs.set(nodeName, podCIDR);
    if (this.isNextWaiting) return this.handingOver;
    this.isNextWaiting = true;
    this.handingOver = this.handingOver
      .catch(() => undefined)
      .then(() => {
        this.isNextWaiting = false;
        return this.health.setPodCIDR(mergeRanges([...this.podCIDRs.values()]).join(','));
      });
    return this.handingOver;
  }

  /** As a Node's status shows them; asked for once a moment for all nodes. */
  nodeImages(): Promise<ContainerImage[]> {
    const { clock } = this.context;
    const now = clock.monotonic();
    if (!this.imageList || now - this.imageList.at > sharedAnswerMs) {
      this.imageList = { at: now, images: this.nodeImageList.list() };
    }
    return this.imageList.images;
  }

  /** A heartbeat of one of the nodes: the runtime's health is looked at once a moment for all of them. */
  heartbeat(): void {
    const now = this.context.clock.monotonic();
    if (now - this.healthCheckedAt < sharedAnswerMs) return;
    this.healthCheckedAt = now;
    this.health.check();
  }

  /** What the machine has left, looked at once a moment for all nodes. `nodefs`: a directory of theirs. */
  observe(nodefs: string): Promise<ReadonlyMap<Signal, Observation>> {
    const now = this.context.clock.monotonic();
    if (!this.observed || now - this.observed.at > sharedAnswerMs) {
      this.observed = { at: now, signals: this.disks(nodefs).then(observeNode) };
    }
    return this.observed.signals;
  }

  private async disks(nodefs: string): Promise<Disks> {
    // Memory may run out also while the runtime does not answer.
    const info = await this.images.imageFsInfo({}, { timeoutMs: 2000 }).catch((error: unknown) => {
      this.context.logger.debug({ err: error }, 'the runtime does not tell its file systems');
      return undefined;
    });
    return {
      nodefs,
      imagefs: info?.imageFilesystems[0]?.fsId?.mountpoint,
      containerfs: info?.containerFilesystems[0]?.fsId?.mountpoint,
    };
  }

  /** Deletes all images that no container uses. */
  async deleteUnusedImages(): Promise<void> {
    await this.imageGC.deleteUnused();
    this.observed = undefined;
  }

  /** Follows the runtime until the signal aborts and everything has ended. */
  async run(): Promise<void> {
    this.health.check();
    const collecting = this.context.clock.setInterval(() => void this.collectImages(), imageGCPeriodMs, {
      unref: true,
    });
    if (this.options.imageGCHigh < 100) void this.collectImages();
    try {
      await this.pleg.run();
    } finally {
      collecting.cancel();
      await this.health.settled();
    }
  }

  private async collectImages(): Promise<void> {
    try {
      const failure = await this.imageGC.collect();
      if (failure) for (const listener of this.listeners) listener.onImageGCFailed(failure);
    } catch (error) {
      if (!this.context.signal.aborted)
        this.context.logger.warn({ err: error }, 'could not look for unused images');
    }
  }

  close(): void {
    close(this.clients);
  }
}

/** Nodes of one process share answers that are so young. */
const sharedAnswerMs = 1000;
/** Source: pkg/kubelet ImageGCPeriod. */
const imageGCPeriodMs = 300_000;

interface RuntimeClients {
  runtime: RuntimeClient;
  images: ImageClient;
  vnet: VnetClient | undefined;
}

function close({ runtime, images, vnet }: RuntimeClients): void {
  vnet?.close();
  images.close();
  runtime.close();
}

async function overlayOf(vnet: VnetClient | undefined): Promise<string | undefined> {
  return vnet ? (await vnet.getNode()).overlayEndpoint || undefined : undefined;
}
