import type { Node, Pod, PodSpec } from '@tinkernetes/api';

/** A cluster with Pods on it, and the Pods whose placing is measured. */
export interface Workload {
  name: string;
  nodes: number;
  /** Placed before the measurement. */
  initial: { count: number; shape: PodShape };
  measured: { count: number; shape: PodShape };
}
export interface PodShape {
  labels?: Record<string, string>;
  cpu: string;
  spec?: (index: number) => Partial<PodSpec>;
}

const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';
const plain: PodShape = { cpu: '100m' };
const selecting = (color: string) => ({ labelSelector: { matchLabels: { color } } });
const spreadOver = (topologyKey: string, color: string, maxSkew = 5) => ({
  topologySpreadConstraints: [
    { maxSkew, topologyKey, whenUnsatisfiable: 'DoNotSchedule' as const, ...selecting(color) },
  ],
});
const apart = (color: string): Partial<PodSpec> => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, ...selecting(color) }],
    },
  },
});
const together = (color: string): Partial<PodSpec> => ({
  affinity: {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, ...selecting(color) }],
    },
  },
});
const preferably = (color: string): Partial<PodSpec> => ({
  affinity: {
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: hostname, ...selecting(color) } },
      ],
    },
  },
});

/**
 * The shapes of upstream's scheduler_perf, at its sizes (`scale` 1) or smaller ones.
 * Source: kubernetes/kubernetes, test/integration/scheduler_perf.
 */
export function workloads(scale = 1): Workload[] {
  const of = (count: number) => Math.max(1, Math.round(count * scale));
  const workload = (
    name: string,
    nodes: number,
    initial: [number, PodShape],
    measured: [number, PodShape],
  ): Workload => ({
    name,
    nodes: of(nodes),
    initial: { count: of(initial[0]), shape: initial[1] },
    measured: { count: of(measured[0]), shape: measured[1] },
  });
  const colored = (color: string, spec: Partial<PodSpec>): PodShape => ({
    labels: { color },
    cpu: '100m',
    spec: () => spec,
  });
  const both = { ...apart('green'), ...spreadOver(zone, 'green') };
  return [
    workload('plain Pods', 1000, [1000, plain], [5000, plain]),
    workload('plain Pods', 5000, [1000, plain], [10_000, plain]),
    workload(
      'required Pod affinity',
      5000,
      [5000, colored('blue', together('blue'))],
      [5000, colored('blue', together('blue'))],
    ),
    workload(
      'preferred Pod affinity',
      5000,
      [5000, colored('red', preferably('red'))],
      [5000, colored('red', preferably('red'))],
    ),
    workload(
      'Pod anti-affinity',
      5000,
      [1000, colored('green', apart('green'))],
      [2000, colored('green', apart('green'))],
    ),
    workload('topology spread', 5000, [5000, plain], [5000, colored('blue', spreadOver(zone, 'blue'))]),
    workload(
      'anti-affinity and spread',
      5000,
      [1000, colored('green', both)],
      [2000, colored('green', both)],
    ),
    workload(
      'preemption',
      500,
      [2000, { cpu: '900m', spec: () => ({ priority: 0 }) }],
      [500, { cpu: '3', spec: () => ({ priority: 10 }) }],
    ),
  ];
}

const zones = 3;

/** As scheduler_perf's nodes: 4 CPUs, 32 Gi, 110 Pods, Ready. */
export const benchNode = (i: number): Node =>
  ({
    metadata: {
      name: `node-${i}`,
      uid: `node-${i}`,
      labels: { [hostname]: `node-${i}`, [zone]: `zone-${i % zones}` },
    },
    spec: {},
    status: {
      capacity: { cpu: '4', memory: '32Gi', pods: '110' },
      allocatable: { cpu: '4', memory: '32Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  }) as unknown as Node;

export function benchPod(name: string, index: number, { labels, cpu, spec }: PodShape): Pod {
  const resources = { requests: { cpu, memory: '500Mi' }, limits: { cpu, memory: '500Mi' } };
  const containers = [{ name: 'pause', image: 'registry.k8s.io/pause:3.10', resources }];
  return {
    metadata: { name, namespace: 'default', labels },
    spec: { schedulerName: 'default-scheduler', containers, ...spec?.(index) },
    status: { phase: 'Pending' },
  } as Pod;
}
