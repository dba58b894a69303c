import { join } from 'node:path';
import type { Clock, Logger, Random, StepTracer } from '@tinkernetes/component-base';
import { CriError, type ContainerConfig, type PodSandboxConfig } from '@tinkernetes/cri';
import type { ImageStore } from '../images/image-store';
import type { NodeNetwork } from '../network/node-network';
import { Container, nanos } from './container';
import { checkContainer } from './container-checks';
import { makeMissingHostPaths } from './host-paths';
import { imageMounts } from './image-mounts';
import type { ContainerEventType } from '@tinkernetes/cri';
import type { PodNetwork } from './pod-network';
import { ProcessNamespaces } from './process-namespaces';
import { RecordStore } from './record-store';
import { nameOf, RuntimeIndex } from './runtime-index';
import { hostNetworkOf, type ContainerRecord, type SandboxRecord } from './records';
import { SharedValues } from './shared-values';

export interface RuntimeStateOptions {
  rootDir: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  tracer: StepTracer;
  network: NodeNetwork;
  podNetwork: PodNetwork;
  images: ImageStore;
}

export interface RuntimeEvent {
  type: ContainerEventType;
  /** A container's or a sandbox's. */
  id: string;
  sandboxId: string;
  createdAt: number;
}

/** All sandboxes and containers of the node, in memory and on disk. */
export class RuntimeState {
  private readonly index = new RuntimeIndex();
  private readonly sandboxStore: RecordStore<SandboxRecord>;
  private readonly containerStore: RecordStore<ContainerRecord>;
  private readonly processes: ProcessNamespaces;
  private readonly listeners = new Set<(event: RuntimeEvent) => void>();
  private readonly values = new SharedValues();

  constructor(private readonly options: RuntimeStateOptions) {
    this.sandboxStore = new RecordStore(join(options.rootDir, 'sandboxes.jsonl'), options.logger);
    this.containerStore = new RecordStore(join(options.rootDir, 'containers.jsonl'), options.logger);
    this.processes = new ProcessNamespaces(options);
  }

  /** After a restart: sandboxes are as they were, programs that ran have ended with the runtime. */
  load(): void {
    for (const sandbox of this.sandboxStore.load()) {
      this.values.share(sandbox.config);
      this.index.addSandbox(sandbox);
    }
    for (const record of this.containerStore.load()) {
      this.values.share(record.config);
      const sandbox = this.sandboxes.get(record.sandboxId);
      const image = this.options.images.byId(record.imageId);
      if (!sandbox || !image) {
        this.containerStore.delete(record.id);
        continue;
      }
      if (record.state === 'CONTAINER_RUNNING') {
        Object.assign(record, {
          state: 'CONTAINER_EXITED',
          exitCode: 255,
          reason: 'Unknown',
          finishedAt: nanos(this.options.clock),
        } satisfies Partial<ContainerRecord>);
        this.containerStore.save(record);
      }
      this.index.addContainer(this.makeContainer(record, sandbox, image));
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.containers.values()].map((container) => container.stop(0)));
    this.sandboxStore.close();
    this.containerStore.close();
  }

  onEvent(listener: (event: RuntimeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  get sandboxes(): ReadonlyMap<string, SandboxRecord> {
    return this.index.sandboxes;
  }

  get containers(): ReadonlyMap<string, Container> {
    return this.index.containers;
  }

  /** By its id or the beginning of it; throws CriError. */
  sandbox(id: string): SandboxRecord {
    return this.index.sandbox(id);
  }

  /** By its id or the beginning of it; throws CriError. */
  container(id: string): Container {
    return this.index.container(id);
  }

  containersOf(sandboxId: string): Container[] {
    return this.index.containersOf(sandboxId);
  }

  /** All that the selector may match, and not many more. */
  sandboxesFor(labelSelector: Readonly<Record<string, string>> | undefined): Iterable<SandboxRecord> {
    return this.index.sandboxesFor(labelSelector);
  }

  /** All that the selector may match, and not many more. */
  containersFor(labelSelector: Readonly<Record<string, string>> | undefined): Iterable<Container> {
    return this.index.containersFor(labelSelector);
  }

  async runSandbox(
    config: PodSandboxConfig,
    runtimeHandler: string,
    traceParent: string | undefined,
  ): Promise<string> {
    const { random, clock, podNetwork, logger } = this.options;
    if (!config.metadata) throw new CriError('INVALID_ARGUMENT', 'sandbox config must include metadata');
    if (runtimeHandler !== '' && runtimeHandler !== 'mock')
      throw new CriError(
        'UNKNOWN',
        `failed to get sandbox runtime: no runtime for "${runtimeHandler}" is configured`,
      );
    const existing = this.index.sandboxNamed(config);
    if (existing !== undefined)
      throw new CriError(
        'UNKNOWN',
        `failed to reserve sandbox name "${nameOf(config)}": name "${nameOf(config)}" is reserved for "${existing}"`,
      );
    const id = random.hex(32);
    const record: SandboxRecord = {
      id,
      config: this.values.share(config),
      runtimeHandler,
      createdAt: nanos(clock),
      state: 'SANDBOX_READY',
      netns: '',
      ips: [],
    };
    this.index.addSandbox(record);
    try {
      if (hostNetworkOf(config)) record.ips = [];
      else Object.assign(record, await podNetwork.setUp(id, config, traceParent));
    } catch (error) {
      this.index.forgetSandbox(record);
      const message = error instanceof Error ? error.message : String(error);
      throw new CriError('UNKNOWN', `failed to setup network for sandbox "${id}": ${message}`, {
        cause: error,
      });
    }
    this.sandboxStore.save(record);
    logger.info(
      { pod: `${config.metadata.namespace}/${config.metadata.name}`, sandbox: id, ips: record.ips },
      'sandbox runs',
    );
    this.emit('CONTAINER_CREATED_EVENT', id, id);
    this.emit('CONTAINER_STARTED_EVENT', id, id);
    return id;
  }

  async stopSandbox(id: string): Promise<void> {
    const record = this.sandbox(id);
    await Promise.all(this.containersOf(record.id).map((container) => container.stop(0)));
    if (isStopped(record)) return;
    if (record.netns !== '') await this.options.podNetwork.tearDown(record.id, record.config, record.netns);
    // Another call may have been faster.
    if (isStopped(record)) return;
    record.state = 'SANDBOX_NOTREADY';
    this.processes.remove(record.id);
    this.sandboxStore.save(record);
    this.emit('CONTAINER_STOPPED_EVENT', record.id, record.id);
  }

  async removeSandbox(id: string): Promise<void> {
    const record = this.sandboxes.get(id);
    if (!record) return;
    await this.stopSandbox(id);
    for (const container of this.containersOf(id)) await this.removeContainer(container.record.id);
    this.index.forgetSandbox(record);
    this.sandboxStore.delete(id);
    this.emit('CONTAINER_DELETED_EVENT', id, id);
  }

  createContainer(sandboxId: string, config: ContainerConfig): string {
    const sandbox = this.sandbox(sandboxId);
    if (sandbox.state !== 'SANDBOX_READY')
      throw new CriError('UNKNOWN', `sandbox container "${sandbox.id}" is not running`);
    const { metadata } = config;
    if (!metadata) throw new CriError('INVALID_ARGUMENT', 'container config must include metadata');
    const taken = this.containersOf(sandbox.id).find(
      ({ record }) =>
        record.config.metadata?.name === metadata.name && record.config.metadata.attempt === metadata.attempt,
    );
    if (taken) {
      const name = `${metadata.name}_${nameOf(sandbox.config)}_${metadata.attempt}`;
      throw new CriError(
        'UNKNOWN',
        `failed to reserve container name "${name}": name "${name}" is reserved for "${taken.record.id}"`,
      );
    }
    checkContainer(config);
    const wanted = config.image?.image ?? '';
    const image = this.options.images.find(wanted);
    if (!image) throw new CriError('NOT_FOUND', `failed to resolve image "${wanted}": not found`);
    imageMounts(config, (name) => this.options.images.find(name));
    makeMissingHostPaths(config.mounts);
    const { logDirectory } = sandbox.config;
    const record: ContainerRecord = {
      id: this.options.random.hex(32),
      sandboxId: sandbox.id,
      config: this.values.share(config),
      imageId: image.id,
      imageRef: image.repoDigests[0] ?? image.id,
      logPath: logDirectory !== '' && config.logPath !== '' ? join(logDirectory, config.logPath) : '',
      createdAt: nanos(this.options.clock),
      startedAt: 0,
      finishedAt: 0,
      state: 'CONTAINER_CREATED',
      exitCode: 0,
      reason: '',
      message: '',
    };
    this.index.addContainer(this.makeContainer(record, sandbox, image));
    this.containerStore.save(record);
    this.emit('CONTAINER_CREATED_EVENT', record.id, sandbox.id);
    return record.id;
  }

  /** After a change that is no event (resources). */
  saveContainer(record: ContainerRecord): void {
    this.containerStore.save(record);
  }

  async removeContainer(id: string): Promise<void> {
    const container = this.containers.get(id);
    if (!container) return;
    await container.stop(0);
    this.index.forgetContainer(container);
    this.containerStore.delete(id);
    this.emit('CONTAINER_DELETED_EVENT', id, container.record.sandboxId);
  }

  private makeContainer(
    record: ContainerRecord,
    sandbox: SandboxRecord,
    image: Container['image'],
  ): Container {
    const { clock, random, logger, network } = this.options;
    return new Container(record, {
      clock,
      random,
      logger,
      sandbox,
      image,
      images: (name) => this.options.images.find(name),
      net: network.namespace(sandbox.netns),
      nodeName: network.nodeName,
      table: () => this.processes.of(record, (targetId) => this.containers.get(targetId)?.processTable),
      changed: ({ record: changed }) => {
        this.containerStore.save(changed);
        if (changed.state === 'CONTAINER_RUNNING')
          this.emit('CONTAINER_STARTED_EVENT', changed.id, sandbox.id);
        if (changed.state === 'CONTAINER_EXITED')
          this.emit('CONTAINER_STOPPED_EVENT', changed.id, sandbox.id);
      },
    });
  }

  private emit(type: ContainerEventType, id: string, sandboxId: string): void {
    const event = { type, id, sandboxId, createdAt: nanos(this.options.clock) };
    for (const listener of this.listeners) listener(event);
  }
}

const isStopped = ({ state }: SandboxRecord): boolean => state === 'SANDBOX_NOTREADY';
