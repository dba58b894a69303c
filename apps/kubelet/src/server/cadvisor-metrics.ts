import { isCriError, type ContainerStats, type Metric, type RuntimeClient } from '@tinkernetes/cri';
import type { Pod } from '@tinkernetes/api';
import type { ServerResponse } from 'node:http';
import type { NodeAgent } from '../node-agent';
import { uidOf } from '../pods/pod-facts';
import type { ServerDeps } from './endpoint';
import { Exposition, send } from './metrics';
import { podUsages, type PodUsage } from './stats-summary';

type Labels = Record<string, string>;

/** Of these the statistics tell more: metrics of the CRI are whole numbers, and CPU time is in seconds. */
const ofStatistics: ReadonlyArray<{
  name: string;
  type: 'counter' | 'gauge';
  help: string;
  more?: Labels;
  value(stats: ContainerStats): number | undefined;
}> = [
  {
    name: 'container_cpu_usage_seconds_total',
    type: 'counter',
    help: 'Cumulative cpu time consumed in seconds.',
    more: { cpu: 'total' },
    value: ({ cpu }) => (cpu?.usageCoreNanoSeconds?.value ?? 0) / 1e9,
  },
  {
    name: 'container_memory_usage_bytes',
    type: 'gauge',
    help: 'Current memory usage in bytes, including all memory regardless of when it was accessed',
    value: ({ memory }) => memory?.usageBytes?.value,
  },
  {
    name: 'container_memory_working_set_bytes',
    type: 'gauge',
    help: 'Current working set in bytes.',
    value: ({ memory }) => memory?.workingSetBytes?.value,
  },
];

/**
 * GET /metrics/cadvisor: statistics and the runtime's own metrics, where it has any, with the labels that dashboards
 * select by. Source: cAdvisor's Prometheus collector; pkg/kubelet/metrics/collectors/cri_metrics.go.
 */
export async function serveCadvisorMetrics(
  deps: ServerDeps,
  agent: NodeAgent,
  response: ServerResponse,
): Promise<void> {
  const [usages, measured] = await Promise.all([podUsages(deps, agent), metricsOfRuntime(deps.runtime)]);
  const pods = agent.podList().flatMap((pod) => {
    const usage = usages.get(uidOf(pod));
    return usage ? [{ pod, usage }] : [];
  });
  const out = new Exposition();
  const containers = pods.flatMap(({ pod, usage }) =>
    usage.containers.map((stats) => ({ stats, labels: labelsOf(pod, stats) })),
  );
  for (const { name, type, help, more, value } of ofStatistics) {
    const write = out.family(name, type, help);
    for (const { stats, labels } of containers) write({ ...labels, ...more }, value(stats) ?? 0);
  }
  if (measured) writeMeasured(out, measured, pods);
  send(response, out);
}

const labelsOf = (pod: Pod, stats: ContainerStats | undefined) => {
  const id = stats?.attributes?.id ?? '';
  return {
    container: stats?.attributes?.metadata?.name ?? '',
    id: `/kubepods/pod${uidOf(pod)}${id && `/${id}`}`,
    image: '',
    name: id,
    namespace: pod.metadata.namespace ?? '',
    pod: pod.metadata.name,
  };
};

interface Measured {
  /** By the metric's name. */
  families: ReadonlyMap<string, { help: string; labelKeys: readonly string[] }>;
  /** By the ID of the sandbox or the container. */
  metrics: ReadonlyMap<string, readonly Metric[]>;
}

/** Undefined: the runtime has none. */
async function metricsOfRuntime(runtime: RuntimeClient): Promise<Measured | undefined> {
  try {
    const [{ descriptors }, { podMetrics }] = await Promise.all([
      runtime.listMetricDescriptors(),
      runtime.listPodSandboxMetrics(),
    ]);
    return {
      families: new Map(descriptors.map((family) => [family.name, family])),
      metrics: new Map(
        podMetrics.flatMap(({ podSandboxId, metrics, containerMetrics }) => [
          [podSandboxId, metrics] as const,
          ...containerMetrics.map((container) => [container.containerId, container.metrics] as const),
        ]),
      ),
    };
  } catch (error) {
    if (isCriError(error, 'UNIMPLEMENTED')) return undefined;
    throw error;
  }
}

function writeMeasured(
  out: Exposition,
  { families, metrics }: Measured,
  pods: readonly { pod: Pod; usage: PodUsage }[],
): void {
  const samples = new Map<string, { labels: Labels; metric: Metric }[]>();
  const collect = (id: string | undefined, own: Labels) => {
    for (const metric of metrics.get(id ?? '') ?? []) {
      const keys = families.get(metric.name)?.labelKeys ?? [];
      const told = Object.fromEntries(keys.map((key, i) => [key, metric.labelValues[i] ?? '']));
      const labels = { ...told, ...own, image: told.image ?? '' };
      const known = samples.get(metric.name);
      if (known) known.push({ labels, metric });
      else samples.set(metric.name, [{ labels, metric }]);
    }
  };
  for (const { pod, usage } of pods) {
    collect(usage.sandbox?.attributes?.id, labelsOf(pod, undefined));
    for (const stats of usage.containers) collect(stats.attributes?.id, labelsOf(pod, stats));
  }
  for (const { name } of ofStatistics) samples.delete(name);
  for (const [name, list] of samples) {
    const type = list[0]?.metric.metricType === 'COUNTER' ? 'counter' : 'gauge';
    const write = out.family(name, type, families.get(name)?.help ?? '');
    for (const { labels, metric } of list) write(labels, metric.value?.value ?? 0);
  }
}
