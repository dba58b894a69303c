import { realClock } from '@tinkernetes/component-base';
import {
  addImageService,
  addRuntimeService,
  createCriServer,
  CriError,
  listen,
  type ContainerConfig,
  type ContainerEventResponse,
  type ContainerEventType,
  type ContainerState,
  type DeepPartial,
  type ImageHandlers,
  type PodSandboxConfig,
  type RuntimeHandlers,
} from '@tinkernetes/cri';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface FakeContainer {
  id: string;
  sandboxId: string;
  config: ContainerConfig;
  state: ContainerState;
  createdAt: number;
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  logPath: string;
}
interface FakeSandbox {
  id: string;
  config: PodSandboxConfig;
  ready: boolean;
  createdAt: number;
  ip: string;
}

interface ExecAnswer {
  exitCode: number;
  stdout?: string;
}

/** A CRI server whose containers do nothing until a test says so: it records calls and lets containers exit. */
export class FakeRuntime {
  readonly calls: string[] = [];
  readonly sandboxes = new Map<string, FakeSandbox>();
  readonly containers = new Map<string, FakeContainer>();
  readonly images = new Set<string>();
  /** Images whose pull fails, with the runtime's text. */
  readonly broken = new Map<string, string>();
  /** What exec answers, by command. */
  exec: (container: FakeContainer, command: readonly string[]) => ExecAnswer | Promise<ExecAnswer> = () => ({
    exitCode: 0,
  });
  /** Calls that are not answered, as `CreateContainer NAME` and `ListPodSandbox`. */
  readonly hanging = new Set<string>();
  /** Called for each pull, which takes as long. */
  onPull: (name: string) => void | Promise<void> = () => undefined;
  /** Called when a container is asked to stop; its exit code. */
  onStop: (container: FakeContainer, graceSeconds: number) => number | Promise<number> = () => 143;
  networkReady = false;
  podCIDR = '';
  private server = createCriServer();
  private readonly listeners = new Set<(event: DeepPartial<ContainerEventResponse>) => void>();
  private serial = 0;
  private clock = 0;

  constructor(
    readonly endpoint: string,
    private readonly options: { events: boolean } = { events: true },
  ) {}

  /** Listens; after `stop` again, with everything that it had. */
  async start(): Promise<void> {
    this.server = createCriServer();
    addRuntimeService(this.server, this.runtimeHandlers());
    addImageService(this.server, this.imageHandlers());
    await rm(this.endpoint.slice('unix://'.length), { force: true });
    await listen(this.server, this.endpoint);
  }

  stop(): void {
    this.server.forceShutdown();
  }

  /** The newest container of that name. */
  container(name: string): FakeContainer | undefined {
    return [...this.containers.values()].filter((c) => c.config.metadata?.name === name).at(-1);
  }

  /** The container's process ends by itself. */
  exit(name: string, exitCode: number): void {
    const container = this.container(name);
    if (!container || container.state !== 'CONTAINER_RUNNING')
      throw new Error(`container ${name} is not running`);
    this.end(container, exitCode);
  }

  private now(): number {
    // Two things never happen in the same nanosecond.
    this.clock = Math.max(this.clock + 1000, realClock.now() * 1e6);
    return this.clock;
  }

  private end(container: FakeContainer, exitCode: number): void {
    container.state = 'CONTAINER_EXITED';
    container.exitCode = exitCode;
    container.finishedAt = this.now();
    this.emit(container.id, container.sandboxId, 'CONTAINER_STOPPED_EVENT');
  }

  private emit(containerId: string, sandboxId: string, containerEventType: ContainerEventType): void {
    const sandbox = this.sandboxes.get(sandboxId);
    const event = {
      containerId,
      containerEventType,
      podSandboxStatus: sandbox && this.sandboxStatusOf(sandbox),
      containersStatuses: [...this.containers.values()]
        .filter((c) => c.sandboxId === sandboxId)
        .map((c) => this.statusOf(c)),
    };
    for (const listener of this.listeners) listener(event);
  }

  private statusOf(c: FakeContainer) {
    return {
      id: c.id,
      metadata: c.config.metadata,
      state: c.state,
      createdAt: c.createdAt,
      startedAt: c.startedAt,
      finishedAt: c.finishedAt,
      exitCode: c.exitCode,
      image: c.config.image,
      imageRef: `sha256:${c.config.image?.image ?? ''}`,
      imageId: `sha256:${c.config.image?.image ?? ''}`,
      labels: c.config.labels,
      annotations: c.config.annotations,
      mounts: c.config.mounts,
      logPath: c.logPath,
    };
  }

  private sandboxStatusOf(s: FakeSandbox) {
    const network = s.config.linux?.securityContext?.namespaceOptions?.network ?? 'POD';
    return {
      id: s.id,
      metadata: s.config.metadata,
      labels: s.config.labels,
      createdAt: s.createdAt,
      state: s.ready ? ('SANDBOX_READY' as const) : ('SANDBOX_NOTREADY' as const),
      network: { ip: network === 'NODE' ? '' : s.ip },
      linux: { namespaces: { options: { network } } },
    };
  }

  private statsOf({ id, config }: FakeSandbox) {
    const cpu = { usageCoreNanoSeconds: { value: 3e9 }, usageNanoCores: { value: 5e6 } };
    const memory = { workingSetBytes: { value: 7 * 1024 * 1024 }, usageBytes: { value: 8 * 1024 * 1024 } };
    const containers = [...this.containers.values()]
      .filter((c) => c.sandboxId === id && c.state === 'CONTAINER_RUNNING')
      .map((c) => ({
        attributes: { id: c.id, metadata: c.config.metadata, labels: c.config.labels },
        cpu,
        memory,
      }));
    const attributes = { id, metadata: config.metadata, labels: config.labels };
    return { attributes, linux: { cpu, memory, containers } };
  }

  private runtimeHandlers(): RuntimeHandlers {
    const find = (id: string): FakeContainer => {
      const found = this.containers.get(id);
      if (!found) throw new CriError('NOT_FOUND', `container "${id}" not found`);
      return found;
    };
    const matches = (labels: Record<string, string>, selector: Record<string, string> = {}) =>
      Object.entries(selector).every(([key, value]) => labels[key] === value);
    return {
      version: () => ({
        version: '0.1.0',
        runtimeName: 'fake',
        runtimeVersion: '1.0.0',
        runtimeApiVersion: 'v1',
      }),
      status: () => ({
        status: {
          conditions: [
            { type: 'RuntimeReady', status: true },
            this.networkReady
              ? { type: 'NetworkReady', status: true }
              : {
                  type: 'NetworkReady',
                  status: false,
                  reason: 'NetworkPluginNotReady',
                  message: 'no podCIDR yet',
                },
          ],
        },
      }),
      updateRuntimeConfig: ({ runtimeConfig }) => {
        this.podCIDR = runtimeConfig?.networkConfig?.podCidr ?? '';
        this.networkReady = true;
        return {};
      },
      runPodSandbox: async ({ config }, { signal }) => {
        if (!config) throw new CriError('INVALID_ARGUMENT', 'no config');
        if (this.hanging.has(`RunPodSandbox ${config.metadata?.name}`)) {
          await once(signal, 'abort');
          throw new CriError('CANCELLED', 'given up');
        }
        const serial = ++this.serial;
        const id = `sandbox-${serial}`;
        this.calls.push(`RunPodSandbox ${config.metadata?.name}`);
        await mkdir(config.logDirectory, { recursive: true });
        this.sandboxes.set(id, { id, config, ready: true, createdAt: this.now(), ip: `10.244.0.${serial}` });
        this.emit(id, id, 'CONTAINER_STARTED_EVENT');
        return { podSandboxId: id };
      },
      stopPodSandbox: ({ podSandboxId }) => {
        const sandbox = this.sandboxes.get(podSandboxId);
        const wasReady = sandbox?.ready;
        if (sandbox) sandbox.ready = false;
        for (const c of this.containers.values()) {
          if (c.sandboxId === podSandboxId && c.state === 'CONTAINER_RUNNING') this.end(c, 137);
        }
        this.calls.push(`StopPodSandbox ${sandbox?.config.metadata?.name}`);
        if (wasReady) this.emit(podSandboxId, podSandboxId, 'CONTAINER_STOPPED_EVENT');
        return {};
      },
      removePodSandbox: ({ podSandboxId }) => {
        this.sandboxes.delete(podSandboxId);
        return {};
      },
      listPodSandbox: async ({ filter }, { signal }) => {
        if (this.hanging.has('ListPodSandbox')) {
          await once(signal, 'abort');
          this.calls.push('ListPodSandbox gave up');
        }
        const items = [...this.sandboxes.values()]
          .filter((s) => matches(s.config.labels, filter?.labelSelector))
          .map((s) => ({
            id: s.id,
            metadata: s.config.metadata,
            labels: s.config.labels,
            createdAt: s.createdAt,
            state: s.ready ? ('SANDBOX_READY' as const) : ('SANDBOX_NOTREADY' as const),
          }));
        return { items };
      },
      podSandboxStatus: ({ podSandboxId }) => {
        const s = this.sandboxes.get(podSandboxId);
        if (!s) throw new CriError('NOT_FOUND', 'no such sandbox');
        return { status: this.sandboxStatusOf(s) };
      },
      createContainer: async ({ podSandboxId, config }, { signal }) => {
        if (!config) throw new CriError('INVALID_ARGUMENT', 'no config');
        const call = `CreateContainer ${config.metadata?.name}`;
        if (this.hanging.has(call)) {
          this.calls.push(`${call} hangs`);
          await once(signal, 'abort');
        }
        const id = `container-${++this.serial}`;
        const logPath = join(this.sandboxes.get(podSandboxId)?.config.logDirectory ?? '', config.logPath);
        this.containers.set(id, {
          id,
          sandboxId: podSandboxId,
          config,
          state: 'CONTAINER_CREATED',
          createdAt: this.now(),
          startedAt: 0,
          finishedAt: 0,
          exitCode: 0,
          logPath,
        });
        this.calls.push(`CreateContainer ${config.metadata?.name}`);
        this.emit(id, podSandboxId, 'CONTAINER_CREATED_EVENT');
        return { containerId: id };
      },
      startContainer: async ({ containerId }) => {
        const container = find(containerId);
        if (container.config.command[0] === '/no/such') {
          container.state = 'CONTAINER_EXITED';
          container.exitCode = 127;
          container.finishedAt = this.now();
          throw new CriError('UNKNOWN', 'exec: "/no/such": no such file or directory');
        }
        container.state = 'CONTAINER_RUNNING';
        container.startedAt = this.now();
        await mkdir(join(container.logPath, '..'), { recursive: true });
        await writeFile(container.logPath, '');
        this.calls.push(`StartContainer ${container.config.metadata?.name}`);
        this.emit(containerId, container.sandboxId, 'CONTAINER_STARTED_EVENT');
        return {};
      },
      stopContainer: async ({ containerId, timeout }) => {
        const container = find(containerId);
        this.calls.push(`StopContainer ${container.config.metadata?.name} ${timeout}`);
        if (container.state === 'CONTAINER_RUNNING') {
          const exitCode = await this.onStop(container, timeout);
          // Another call may have ended it meanwhile.
          if (find(containerId).state === 'CONTAINER_RUNNING') this.end(container, exitCode);
        }
        return {};
      },
      updateContainerResources: ({ containerId, linux }) => {
        const container = find(containerId);
        this.calls.push(
          `UpdateContainerResources ${container.config.metadata?.name} ${linux?.memoryLimitInBytes}`,
        );
        return {};
      },
      removeContainer: async ({ containerId }) => {
        const container = this.containers.get(containerId);
        this.containers.delete(containerId);
        if (container) {
          this.emit(containerId, container.sandboxId, 'CONTAINER_DELETED_EVENT');
        }
        return {};
      },
      listContainers: ({ filter }) => ({
        containers: [...this.containers.values()]
          .filter((c) => matches(c.config.labels, filter?.labelSelector))
          .map((c) => ({
            id: c.id,
            podSandboxId: c.sandboxId,
            metadata: c.config.metadata,
            state: c.state,
            labels: c.config.labels,
          })),
      }),
      listMetricDescriptors: () => ({
        descriptors: [
          { name: 'container_threads', help: 'Number of threads.', labelKeys: ['id', 'name', 'image'] },
        ],
      }),
      listPodSandboxMetrics: () => ({
        podMetrics: [...this.sandboxes.keys()].map((podSandboxId) => ({
          podSandboxId,
          containerMetrics: [...this.containers.values()]
            .filter(({ sandboxId }) => sandboxId === podSandboxId)
            .map(({ id, config }) => ({
              containerId: id,
              metrics: [
                {
                  name: 'container_threads',
                  metricType: 'GAUGE' as const,
                  labelValues: [id, config.metadata?.name ?? '', config.image?.image ?? ''],
                  value: { value: 4 },
                },
              ],
            })),
        })),
      }),
      listPodSandboxStats: () => ({ stats: [...this.sandboxes.values()].map((s) => this.statsOf(s)) }),
      containerStatus: ({ containerId }) => ({ status: this.statusOf(find(containerId)) }),
      execSync: async ({ containerId, cmd }) => {
        const { exitCode, stdout = '' } = await this.exec(find(containerId), cmd);
        return { exitCode, stdout: Buffer.from(stdout) };
      },
      getContainerEvents: this.options.events ? (_request, { signal }) => this.follow(signal) : undefined,
    };
  }

  private async *follow(signal: AbortSignal): AsyncGenerator<DeepPartial<ContainerEventResponse>> {
    const waiting: Array<DeepPartial<ContainerEventResponse>> = [];
    let wake: () => void = () => undefined;
    const listener = (event: DeepPartial<ContainerEventResponse>) => {
      waiting.push(event);
      wake();
    };
    this.listeners.add(listener);
    signal.addEventListener('abort', () => wake(), { once: true });
    try {
      while (!signal.aborted) {
        for (let next = waiting.shift(); next; next = waiting.shift()) yield next;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (waiting.length > 0 || signal.aborted) resolve();
        });
      }
    } finally {
      this.listeners.delete(listener);
    }
  }

  private imageHandlers(): ImageHandlers {
    return {
      imageStatus: ({ image }) => {
        const name = image?.image ?? '';
        return this.images.has(name) ? { image: { id: `sha256:${name}`, repoTags: [name], size: 1000 } } : {};
      },
      pullImage: async ({ image }) => {
        const name = image?.image ?? '';
        this.calls.push(`PullImage ${name}`);
        await this.onPull(name);
        const failure = this.broken.get(name);
        if (failure) throw new CriError('NOT_FOUND', failure);
        this.images.add(name);
        return { imageRef: `sha256:${name}` };
      },
      listImages: () => ({
        images: [...this.images].map((name) => ({ id: name, repoTags: [name], size: 1000 })),
      }),
    };
  }
}
