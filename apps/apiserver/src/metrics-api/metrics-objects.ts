import type { Node, ObjectMeta, Pod } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import type { StatsSummary } from './stats-summary';

export const group = 'metrics.k8s.io';
export const version = 'v1beta1';
const apiVersion = `${group}/${version}`;

/** Kubelets average CPU over about this time. */
const window = '10s';

export interface Usage {
  cpu: string;
  memory: string;
}

export interface NodeMetrics {
  kind: 'NodeMetrics';
  apiVersion: string;
  metadata: ObjectMeta;
  timestamp: string;
  window: string;
  usage: Usage;
}

export interface PodMetrics {
  kind: 'PodMetrics';
  apiVersion: string;
  metadata: ObjectMeta;
  timestamp: string;
  window: string;
  containers: { name: string; usage: Usage }[];
}

type Sample = NonNullable<StatsSummary['node']>;

const usageOf = ({ cpu, memory }: Sample): Usage => ({
  cpu: Quantity.parse(`${Math.round(cpu?.usageNanoCores ?? 0)}n`).toString(),
  memory: Quantity.ofValue(Math.round(memory?.workingSetBytes ?? 0), 'BinarySI').toString(),
});

const metadataOf = ({ name, namespace, labels }: ObjectMeta, now: string): ObjectMeta => ({
  name,
  ...(namespace ? { namespace } : {}),
  creationTimestamp: now,
  ...(labels ? { labels } : {}),
});

/** undefined while the kubelet has measured nothing. */
export function nodeMetrics(
  node: Node,
  summary: StatsSummary | undefined,
  now: string,
): NodeMetrics | undefined {
  const sample = summary?.node;
  if (!sample?.cpu || !sample.memory) return undefined;
  return {
    kind: 'NodeMetrics',
    apiVersion,
    metadata: metadataOf(node.metadata, now),
    timestamp: sample.cpu.time ?? now,
    window,
    usage: usageOf(sample),
  };
}

/** Only of running Pods, and only once all their containers that the kubelet reports have been measured. */
export function podMetrics(pod: Pod, summary: StatsSummary | undefined, now: string): PodMetrics | undefined {
  if (pod.status?.phase !== 'Running') return undefined;
  const found = summary?.pods?.find(({ podRef }) => podRef?.uid === pod.metadata.uid);
  const containers = found?.containers ?? [];
  if (containers.length === 0 || !containers.every(({ cpu, memory }) => cpu && memory)) return undefined;
  return {
    kind: 'PodMetrics',
    apiVersion,
    metadata: metadataOf(pod.metadata, now),
    timestamp: earliest(containers.map(({ cpu }) => cpu?.time ?? now)),
    window,
    containers: containers.map((container) => ({ name: container.name ?? '', usage: usageOf(container) })),
  };
}

const earliest = (times: readonly string[]): string => [...times].sort()[0] ?? '';
