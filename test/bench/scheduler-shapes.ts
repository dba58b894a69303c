import type { PodSpec } from '@tinkernetes/api';
import { makeNode, makePod } from '../../apps/scheduler/src/testing/objects';
import { TestCluster } from '../../apps/scheduler/src/testing/test-cluster';

/** A cluster to fill, and the Pods to fill it with. */
export interface Shape {
  name: string;
  nodes: number;
  pods: number;
  spec(index: number): Partial<PodSpec>;
}
export interface Measured {
  placed: number;
  perSecond: number;
  p50: number;
  p99: number;
}

const zones = 10;
const labels = (index: number) => ({ app: `app-${index % 20}` });
const selecting = (index: number) => ({ labelSelector: { matchLabels: labels(index) } });
const zoneKey = 'topology.kubernetes.io/zone';
const hostKey = 'kubernetes.io/hostname';
const spread = (index: number) => [
  { maxSkew: 5, topologyKey: zoneKey, whenUnsatisfiable: 'DoNotSchedule', ...selecting(index) },
];

/** Source: test/integration/scheduler_perf in kubernetes/kubernetes, at another size. */
export function shapes({ nodes, pods, large }: { nodes: number; pods: number; large: number }): Shape[] {
  const plain = () => ({});
  const affinity = (index: number) =>
    ({
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: zoneKey, ...selecting(index) } },
          ],
        },
      },
    }) as Partial<PodSpec>;
  const antiAffinity = (index: number) =>
    ({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostKey, ...selecting(index) }],
        },
      },
    }) as Partial<PodSpec>;
  const spreading = (index: number) => ({ topologySpreadConstraints: spread(index) }) as Partial<PodSpec>;
  const both = (index: number) => ({ ...antiAffinity(index), ...spreading(index) });
  return [
    { name: 'basic', nodes, pods: pods * 5, spec: plain },
    { name: 'preferred Pod affinity', nodes, pods, spec: affinity },
    { name: 'required Pod anti-affinity', nodes, pods, spec: antiAffinity },
    { name: 'topology spread', nodes, pods, spec: spreading },
    { name: 'basic', nodes: large, pods, spec: plain },
    { name: 'anti-affinity and spread', nodes: large, pods, spec: both },
  ];
}

/** Places the Pods one after the other, as the scheduler's loop does. */
export function measure({ nodes, pods, spec }: Shape): Measured {
  const cluster = new TestCluster({
    nodes: Array.from({ length: nodes }, (_, i) =>
      makeNode(`node-${i}`, { labels: { [zoneKey]: `zone-${i % zones}` } }),
    ),
    percentageOfNodesToScore: 0,
  });
  const waiting = Array.from({ length: pods }, (_, i) =>
    makePod(`pod-${i}`, {
      labels: labels(i),
      requests: { cpu: '100m', memory: '100Mi' },
      spec: spec(i),
    }),
  );
  const times: number[] = [];
  let placed = 0;
  const start = performance.now();
  for (const pod of waiting) {
    const before = performance.now();
    if (cluster.run(pod) !== undefined) placed++;
    times.push(performance.now() - before);
  }
  const elapsed = performance.now() - start;
  times.sort((a, b) => a - b);
  const quantile = (q: number) => times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0;
  return { placed, perSecond: (pods / elapsed) * 1000, p50: quantile(0.5), p99: quantile(0.99) };
}
