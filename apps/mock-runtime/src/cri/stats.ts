import type { Clock } from '@tinkernetes/component-base';
import type {
  ContainerStats,
  ContainerStatsFilter,
  DeepPartial,
  FilesystemUsage,
  PodSandboxStats,
  PodSandboxStatsFilter,
} from '@tinkernetes/cri';
import { nanos, type Container } from '../containers/container';
import type { SandboxRecord } from '../containers/records';
import type { RuntimeState } from '../containers/runtime-state';
import type { NodeNetwork } from '../network/node-network';
import { matchesLabels } from './selectors';
import { UsageMeter, type Usage } from './usage';

/** CRI's statistics of containers, sandboxes and the image store. */
export class Stats {
  private readonly meter: UsageMeter;

  constructor(
    private readonly state: RuntimeState,
    private readonly network: NodeNetwork,
    private readonly options: { clock: Clock; imageDir: string },
  ) {
    this.meter = new UsageMeter(options.clock);
  }

  usageOf(container: Container): Usage {
    return this.meter.of(container);
  }

  container(container: Container): DeepPartial<ContainerStats> {
    const { record } = container;
    const timestamp = nanos(this.options.clock);
    const usage = this.meter.of(container);
    const limit = record.config.linux?.resources?.memoryLimitInBytes ?? 0;
    const value = (n: number) => ({ value: Math.max(0, Math.round(n)) });
    return {
      attributes: {
        id: record.id,
        metadata: record.config.metadata,
        labels: record.config.labels,
        annotations: record.config.annotations,
      },
      cpu: {
        timestamp,
        usageCoreNanoSeconds: value(usage.coreNanoSeconds),
        usageNanoCores: value(usage.nanoCores),
      },
      memory: {
        timestamp,
        workingSetBytes: value(usage.memoryBytes),
        usageBytes: value(usage.memoryBytes),
        rssBytes: value(usage.memoryBytes),
        availableBytes: value(limit > 0 ? limit - usage.memoryBytes : 0),
        pageFaults: value(0),
        majorPageFaults: value(0),
      },
      writableLayer: {
        timestamp,
        fsId: { mountpoint: this.options.imageDir },
        usedBytes: value(container.fileSystem?.writtenBytes ?? 0),
        inodesUsed: value(1),
      },
    };
  }

  sandbox(record: SandboxRecord): DeepPartial<PodSandboxStats> {
    const timestamp = nanos(this.options.clock);
    const containers = this.state.containersOf(record.id).filter((c) => c.running);
    const stats = containers.map((c) => this.container(c));
    const sum = (read: (s: DeepPartial<ContainerStats>) => number | undefined) => ({
      value: stats.reduce((total, s) => total + (read(s) ?? 0), 0),
    });
    const eth0 =
      record.netns === '' ? undefined : this.network.namespace(record.netns).interfaces.get('eth0');
    return {
      attributes: {
        id: record.id,
        metadata: record.config.metadata,
        labels: record.config.labels,
        annotations: record.config.annotations,
      },
      linux: {
        cpu: {
          timestamp,
          usageCoreNanoSeconds: sum((s) => s.cpu?.usageCoreNanoSeconds?.value),
          usageNanoCores: sum((s) => s.cpu?.usageNanoCores?.value),
        },
        memory: {
          timestamp,
          workingSetBytes: sum((s) => s.memory?.workingSetBytes?.value),
          usageBytes: sum((s) => s.memory?.usageBytes?.value),
          rssBytes: sum((s) => s.memory?.rssBytes?.value),
        },
        network: eth0 && {
          timestamp,
          defaultInterface: {
            name: 'eth0',
            rxBytes: { value: eth0.received.bytes },
            txBytes: { value: eth0.sent.bytes },
            rxErrors: { value: 0 },
            txErrors: { value: 0 },
          },
        },
        process: {
          timestamp,
          processCount: { value: 1 + containers.reduce((n, c) => n + c.processes.length, 0) },
        },
        containers: stats,
      },
    };
  }

  containers(filter: ContainerStatsFilter | null): DeepPartial<ContainerStats>[] {
    return [...this.state.containers.values()]
      .filter((c) => c.running)
      .filter(
        ({ record }) =>
          !filter ||
          ((filter.id === '' || record.id.startsWith(filter.id)) &&
            (filter.podSandboxId === '' || record.sandboxId.startsWith(filter.podSandboxId)) &&
            matchesLabels(record.config.labels, filter.labelSelector)),
      )
      .map((c) => this.container(c));
  }

  sandboxes(filter: PodSandboxStatsFilter | null): DeepPartial<PodSandboxStats>[] {
    return [...this.state.sandboxes.values()]
      .filter((s) => s.state === 'SANDBOX_READY')
      .filter(
        (s) =>
          !filter ||
          ((filter.id === '' || s.id.startsWith(filter.id)) &&
            matchesLabels(s.config.labels, filter.labelSelector)),
      )
      .map((s) => this.sandbox(s));
  }

  imageFs(usedBytes: number): DeepPartial<FilesystemUsage> {
    return {
      timestamp: nanos(this.options.clock),
      fsId: { mountpoint: this.options.imageDir },
      usedBytes: { value: usedBytes },
      inodesUsed: { value: 1 },
    };
  }
}
