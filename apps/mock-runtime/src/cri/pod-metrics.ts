import type { Clock } from '@tinkernetes/component-base';
import type { DeepPartial, Metric, MetricDescriptor, MetricType, PodSandboxMetrics } from '@tinkernetes/cri';
import { nanos, type Container } from '../containers/container';
import type { SandboxRecord } from '../containers/records';
import type { RuntimeState } from '../containers/runtime-state';
import type { NetInterface } from '../network/net-namespace';
import type { NodeNetwork } from '../network/node-network';
import type { Stats } from './stats';

/** cAdvisor's labels of every container's metric; a Pod's own carry the interface besides. */
const labels = ['id', 'name', 'image'] as const;

interface Sources {
  container: Container;
  cpuSeconds: number;
  memoryBytes: number;
  now: number;
}

type Values = readonly (readonly [extraLabels: readonly string[], value: number])[];

interface ContainerMetric {
  name: string;
  help: string;
  type: MetricType;
  extra?: readonly string[];
  values(sources: Sources): Values;
}

const one = (value: number): Values => [[[], value]];

const resources = ({ container }: Sources) => container.record.config.linux?.resources;

function metric(
  type: MetricType,
  name: string,
  help: string,
  value: (sources: Sources) => number = () => 0,
): ContainerMetric {
  return { name: `container_${name}`, help, type, values: (sources) => one(value(sources)) };
}

const device = (
  type: MetricType,
  name: string,
  help: string,
  value: (sources: Sources) => number = () => 0,
) => ({
  ...metric(type, name, help),
  extra: ['device'],
  values: (sources: Sources): Values => [[['/dev/vda1'], value(sources)]],
});

const failures: ContainerMetric = {
  name: 'container_memory_failures_total',
  help: 'Cumulative count of memory allocation failures.',
  type: 'COUNTER',
  extra: ['failure_type', 'scope'],
  values: () => [
    [['pgfault', 'container'], 0],
    [['pgmajfault', 'container'], 0],
  ],
};

/** Names and meanings as cAdvisor has them; what programs of this process can't cause (swap, throttling) stays 0. */
const containerMetrics: readonly ContainerMetric[] = [
  device('COUNTER', 'blkio_device_usage_total', 'Blkio device bytes usage.'),
  metric('COUNTER', 'cpu_cfs_periods_total', 'Number of elapsed enforcement period intervals.'),
  metric('COUNTER', 'cpu_cfs_throttled_periods_total', 'Number of throttled period intervals.'),
  metric(
    'COUNTER',
    'cpu_cfs_throttled_seconds_total',
    'Total time duration the container has been throttled.',
  ),
  metric('COUNTER', 'cpu_system_seconds_total', 'Cumulative system cpu time consumed in seconds.'),
  metric(
    'COUNTER',
    'cpu_usage_seconds_total',
    'Cumulative cpu time consumed in seconds.',
    (s) => s.cpuSeconds,
  ),
  metric(
    'COUNTER',
    'cpu_user_seconds_total',
    'Cumulative user cpu time consumed in seconds.',
    (s) => s.cpuSeconds,
  ),
  metric('GAUGE', 'file_descriptors', 'Number of open file descriptors for the container.', ({ container }) =>
    container.processes.reduce((sum, process) => sum + process.files.size, 0),
  ),
  device('GAUGE', 'fs_inodes_free', 'Number of available inodes.'),
  device('GAUGE', 'fs_inodes_total', 'Number of inodes.'),
  device(
    'GAUGE',
    'fs_limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
  ),
  device('COUNTER', 'fs_reads_bytes_total', 'Cumulative count of bytes read.'),
  device('COUNTER', 'fs_reads_total', 'Cumulative count of reads completed.'),
  device(
    'GAUGE',
    'fs_usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    (s) => s.container.fileSystem?.writtenBytes ?? 0,
  ),
  device('COUNTER', 'fs_writes_bytes_total', 'Cumulative count of bytes written.'),
  device('COUNTER', 'fs_writes_total', 'Cumulative count of writes completed.'),
  metric('GAUGE', 'last_seen', 'Last time a container was seen by the exporter.', (s) => s.now / 1e9),
  metric('GAUGE', 'memory_cache', 'Number of bytes of page cache memory.'),
  metric('COUNTER', 'memory_failcnt', 'Number of memory usage hits limits.'),
  failures,
  metric('GAUGE', 'memory_kernel_usage', 'Size of kernel memory allocated in bytes.'),
  metric('GAUGE', 'memory_mapped_file', 'Size of memory mapped files in bytes.'),
  metric('GAUGE', 'memory_max_usage_bytes', 'Maximum memory usage recorded in bytes.', (s) => s.memoryBytes),
  metric('GAUGE', 'memory_rss', 'Size of RSS in bytes.', (s) => s.memoryBytes),
  metric('GAUGE', 'memory_swap', 'Container swap usage in bytes.'),
  metric('GAUGE', 'memory_usage_bytes', 'Current memory usage in bytes.', (s) => s.memoryBytes),
  metric('GAUGE', 'memory_working_set_bytes', 'Current working set in bytes.', (s) => s.memoryBytes),
  metric(
    'COUNTER',
    'oom_events_total',
    'Count of out of memory events observed for the container.',
    ({ container }) => (container.record.reason === 'OOMKilled' ? 1 : 0),
  ),
  metric(
    'GAUGE',
    'processes',
    'Number of processes running inside the container.',
    (s) => s.container.processes.length,
  ),
  metric('GAUGE', 'sockets', 'Number of open sockets for the container.', (s) => s.container.openPorts),
  metric('GAUGE', 'spec_cpu_period', 'CPU period of the container.', (s) => resources(s)?.cpuPeriod ?? 0),
  metric('GAUGE', 'spec_cpu_quota', 'CPU quota of the container.', (s) =>
    Math.max(0, resources(s)?.cpuQuota ?? 0),
  ),
  metric('GAUGE', 'spec_cpu_shares', 'CPU share of the container.', (s) => resources(s)?.cpuShares ?? 0),
  metric(
    'GAUGE',
    'spec_memory_limit_bytes',
    'Memory limit for the container.',
    (s) => resources(s)?.memoryLimitInBytes ?? 0,
  ),
  metric('GAUGE', 'spec_memory_reservation_limit_bytes', 'Memory reservation limit for the container.'),
  metric('GAUGE', 'spec_memory_swap_limit_bytes', 'Memory swap limit for the container.', (s) =>
    Math.max(0, resources(s)?.memorySwapLimitInBytes ?? 0),
  ),
  metric(
    'GAUGE',
    'start_time_seconds',
    'Start time of the container since unix epoch in seconds.',
    (s) => s.container.record.startedAt / 1e9,
  ),
  metric(
    'GAUGE',
    'threads',
    'Number of threads running inside the container.',
    (s) => s.container.processes.length,
  ),
  metric(
    'GAUGE',
    'threads_max',
    'Maximum number of threads allowed inside the container, infinity if value is zero.',
  ),
];

interface NetworkMetric {
  name: string;
  help: string;
  value(counters: NetInterface): number;
}

const networkMetrics: readonly NetworkMetric[] = (['receive', 'transmit'] as const).flatMap((direction) => {
  const counter = (i: NetInterface) => (direction === 'receive' ? i.received : i.sent).bytes;
  const metrics: [suffix: string, what: string, value: (i: NetInterface) => number][] = [
    ['bytes_total', 'bytes', counter],
    ['errors_total', 'errors encountered', () => 0],
    ['packets_dropped_total', 'packets dropped', () => 0],
    // Streams have no packets: counted as full ones of an Ethernet.
    ['packets_total', 'packets', (i) => Math.ceil(counter(i) / 1500)],
  ];
  return metrics.map(([suffix, what, value]) => ({
    name: `container_network_${direction}_${suffix}`,
    help: `Cumulative count of ${what} while ${direction === 'receive' ? 'receiving' : 'transmitting'}.`,
    value,
  }));
});

export const metricDescriptors: readonly MetricDescriptor[] = [
  ...containerMetrics.map(({ name, help, extra = [] }) => ({ name, help, labelKeys: [...labels, ...extra] })),
  ...networkMetrics.map(({ name, help }) => ({ name, help, labelKeys: [...labels, 'interface'] })),
];

/** CRI ListPodSandboxMetrics: what cAdvisor would show of each Pod that is ready. */
export class PodMetrics {
  constructor(
    private readonly state: RuntimeState,
    private readonly network: NodeNetwork,
    private readonly options: { stats: Stats; clock: Clock },
  ) {}

  list(): DeepPartial<PodSandboxMetrics>[] {
    return [...this.state.sandboxes.values()]
      .filter(({ state }) => state === 'SANDBOX_READY')
      .map((sandbox) => ({
        podSandboxId: sandbox.id,
        metrics: this.ofNetwork(sandbox),
        containerMetrics: this.state
          .containersOf(sandbox.id)
          .filter((container) => container.running)
          .map((container) => ({ containerId: container.record.id, metrics: this.ofContainer(container) })),
      }));
  }

  private ofContainer(container: Container): DeepPartial<Metric>[] {
    const { record } = container;
    const now = nanos(this.options.clock);
    const { coreNanoSeconds, memoryBytes } = this.options.stats.usageOf(container);
    const sources = { container, cpuSeconds: coreNanoSeconds / 1e9, memoryBytes, now };
    const own = [record.id, record.config.metadata?.name ?? '', record.config.image?.image ?? ''];
    return containerMetrics.flatMap(({ name, type, values }) =>
      values(sources).map(([extra, value]) => ({
        name,
        timestamp: now,
        metricType: type,
        labelValues: [...own, ...extra],
        value: { value: Math.round(value) },
      })),
    );
  }

  private ofNetwork({ id, netns, config }: SandboxRecord): DeepPartial<Metric>[] {
    if (netns === '') return [];
    const timestamp = nanos(this.options.clock);
    const own = [id, config.metadata?.name ?? '', ''];
    return [...this.network.namespace(netns).interfaces.values()].flatMap((counters) =>
      networkMetrics.map(({ name, value }) => ({
        name,
        timestamp,
        metricType: 'COUNTER' as const,
        labelValues: [...own, counters.name],
        value: { value: value(counters) },
      })),
    );
  }
}
