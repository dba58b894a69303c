import type { ServerResponse } from 'node:http';
import type { NodeAgent } from '../node-agent';
import { uidOf } from '../pods/pod-facts';
import type { ServerDeps } from './endpoint';
import { nodeUsage, podUsages } from './stats-summary';

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

export async function serveMetrics({ context }: ServerDeps, response: ServerResponse): Promise<void> {
  send(response, await context.metrics.expose());
}

export const send = (response: ServerResponse, text: { toString(): string }): void => {
  response.writeHead(200, { 'content-type': contentType }).end(text.toString());
};

/** Prometheus text, one family after the other. */
export class Exposition {
  private readonly lines: string[] = [];

  family(
    name: string,
    type: 'counter' | 'gauge',
    help: string,
  ): (labels: Record<string, string>, value: number) => void {
    this.lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    return (labels, value) => {
      const pairs = Object.entries(labels).map(([k, v]) => `${k}=${JSON.stringify(v)}`);
      this.lines.push(`${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`);
    };
  }

  toString(): string {
    return `${this.lines.join('\n')}\n`;
  }
}

/** GET /metrics/resource. Source: pkg/kubelet/metrics/collectors/resource_metrics.go. */
export async function serveResourceMetrics(
  deps: ServerDeps,
  agent: NodeAgent,
  response: ServerResponse,
): Promise<void> {
  const usages = await podUsages(deps, agent);
  const node = nodeUsage(usages, deps.context.clock.now());
  const out = new Exposition();
  const containers = agent.podList().flatMap((pod) =>
    (usages.get(uidOf(pod))?.containers ?? []).map((stats) => ({
      stats,
      labels: {
        container: stats.attributes?.metadata?.name ?? '',
        namespace: pod.metadata.namespace ?? '',
        pod: pod.metadata.name,
      },
    })),
  );
  const cpu = out.family(
    'container_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the container in core-seconds',
  );
  for (const { labels, stats } of containers)
    cpu(labels, (stats.cpu?.usageCoreNanoSeconds?.value ?? 0) / 1e9);
  const memory = out.family(
    'container_memory_working_set_bytes',
    'gauge',
    'Current working set of the container in bytes',
  );
  for (const { labels, stats } of containers) memory(labels, stats.memory?.workingSetBytes?.value ?? 0);
  out.family(
    'node_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the node in core-seconds',
  )({}, node.cpu.usageCoreNanoSeconds / 1e9);
  out.family(
    'node_memory_working_set_bytes',
    'gauge',
    'Current working set of the node in bytes',
  )({}, node.memory.workingSetBytes);
  const podCPU = out.family(
    'pod_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the pod in core-seconds',
  );
  const podMemory: Array<[Record<string, string>, number]> = [];
  for (const pod of agent.podList()) {
    const usage = usages.get(uidOf(pod));
    if (!usage) continue;
    const labels = { namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name };
    podCPU(
      labels,
      usage.containers.reduce((sum, c) => sum + (c.cpu?.usageCoreNanoSeconds?.value ?? 0), 0) / 1e9,
    );
    podMemory.push([
      labels,
      usage.containers.reduce((sum, c) => sum + (c.memory?.workingSetBytes?.value ?? 0), 0),
    ]);
  }
  const podMemoryFamily = out.family(
    'pod_memory_working_set_bytes',
    'gauge',
    'Current working set of the pod in bytes',
  );
  for (const [labels, value] of podMemory) podMemoryFamily(labels, value);
  out.family(
    'resource_scrape_error',
    'gauge',
    '1 if there was an error while getting container metrics, 0 otherwise',
  )({}, 0);
  send(response, out);
}

/** GET /metrics/probes. Source: pkg/kubelet/prober ProberResults. */
export function serveProbeMetrics(agent: NodeAgent, response: ServerResponse): void {
  const out = new Exposition();
  const total = out.family(
    'prober_probe_total',
    'counter',
    'Cumulative number of a liveness, readiness or startup probe for a container by result.',
  );
  for (const [labels, count] of agent.probeCounts()) total(labels, count);
  send(response, out);
}
