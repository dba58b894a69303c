import type { Node, Pod } from '@tinkernetes/api';
import fc from 'fast-check';
import { makeNode, makePod } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';

const zone = 'topology.kubernetes.io/zone';
const host = 'kubernetes.io/hostname';

interface NodeRandom {
  zone: string;
  cpu: number;
  tainted: boolean;
  cordoned: boolean;
  disk: string;
}
interface PodRandom {
  cpu: number;
  app: string;
  tolerates: boolean;
  disk: string | undefined;
  port: number | undefined;
  near: string | undefined;
  apart: string | undefined;
  topology: string;
  skew: number | undefined;
}
const app = fc.constantFrom('a', 'b', 'c');
const rarely = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const someNode: fc.Arbitrary<NodeRandom> = fc.record({
  zone: fc.constantFrom('z1', 'z2', 'z3'),
  cpu: fc.integer({ min: 1, max: 4 }),
  tainted: fc.boolean(),
  cordoned: fc.constantFrom(false, false, false, true),
  disk: fc.constantFrom('ssd', 'hdd'),
});
const somePod: fc.Arbitrary<PodRandom> = fc.record({
  cpu: fc.integer({ min: 0, max: 8 }).map((quarters) => quarters * 250),
  app,
  tolerates: fc.boolean(),
  disk: rarely(fc.constantFrom('ssd', 'hdd')),
  port: rarely(fc.constantFrom(80, 443)),
  near: rarely(app),
  apart: rarely(app),
  topology: fc.constantFrom(zone, host),
  skew: rarely(fc.integer({ min: 1, max: 2 })),
});

function nodeOf(shape: NodeRandom, i: number): Node {
  return makeNode(`n${i}`, {
    labels: { [zone]: shape.zone, disk: shape.disk },
    allocatable: { cpu: String(shape.cpu), pods: '6' },
    spec: {
      unschedulable: shape.cordoned,
      taints: shape.tainted ? [{ key: 'special', effect: 'NoSchedule' }] : [],
    },
  });
}

function podOf(shape: PodRandom, i: number): Pod {
  const term = (value: string) => ({
    labelSelector: { matchLabels: { app: value } },
    topologyKey: shape.topology,
  });
  const required = (value: string) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(value)] });
  const affinity = {
    ...(shape.near ? { podAffinity: required(shape.near) } : {}),
    ...(shape.apart ? { podAntiAffinity: required(shape.apart) } : {}),
  };
  const spread = { ...term(shape.app), maxSkew: shape.skew, whenUnsatisfiable: 'DoNotSchedule' };
  return makePod(`p${i}`, {
    labels: { app: shape.app },
    requests: { cpu: `${shape.cpu}m` },
    container: shape.port ? { ports: [{ containerPort: 1, hostPort: shape.port }] } : {},
    spec: {
      affinity: affinity as never,
      nodeSelector: shape.disk ? { disk: shape.disk } : undefined,
      tolerations: shape.tolerates ? [{ key: 'special', operator: 'Exists' }] : [],
      topologySpreadConstraints: shape.skew ? [spread as never] : [],
    },
  });
}

/** A Pod that has been placed, with the node's number. */
type Placed = PodRandom & { node: number };

/** An independent, slow reading of the rules: why `pod` must not be on node `at`, beside the Pods placed before. */
function violation(
  nodes: readonly NodeRandom[],
  placed: readonly Placed[],
  pod: PodRandom,
  at: number,
): string | undefined {
  const node = nodes[at] as NodeRandom;
  const here = placed.filter((other) => other.node === at);
  const domainOf = (index: number, topology: string) =>
    topology === host ? `n${index}` : nodes[index]?.zone;
  const inDomain = (topology: string) =>
    placed.filter((other) => domainOf(other.node, topology) === domainOf(at, topology));
  if (here.reduce((sum, { cpu }) => sum + cpu, pod.cpu) > node.cpu * 1000) return 'cpu';
  if (here.length >= 6) return 'pods';
  if (node.cordoned) return 'cordoned';
  if (node.tainted && !pod.tolerates) return 'taint';
  if (pod.disk && pod.disk !== node.disk) return 'disk';
  if (pod.port && here.some(({ port }) => port === pod.port)) return 'port';
  if (pod.apart && inDomain(pod.topology).some((other) => other.app === pod.apart)) return 'anti-affinity';
  if (placed.some((o) => o.apart === pod.app && domainOf(o.node, o.topology) === domainOf(at, o.topology)))
    return 'anti-affinity of another';
  if (pod.near && !inDomain(pod.topology).some((other) => other.app === pod.near)) {
    const isFirst = pod.near === pod.app && !placed.some((other) => other.app === pod.near);
    if (!isFirst) return 'affinity';
  }
  if (pod.skew) {
    // Nodes that the Pod's selector excludes make no domain, and their Pods don't count.
    const eligible = nodes.map((_, i) => i).filter((i) => !pod.disk || nodes[i]?.disk === pod.disk);
    const count = (domain: string | undefined) =>
      placed.filter(
        (o) => o.app === pod.app && eligible.includes(o.node) && domainOf(o.node, pod.topology) === domain,
      ).length;
    const fewest = Math.min(...eligible.map((i) => count(domainOf(i, pod.topology))));
    if (count(domainOf(at, pod.topology)) + 1 - fewest > pod.skew) return 'spread';
  }
  return undefined;
}

it('places Pods only where all hard rules hold, and leaves none out that fits somewhere', () => {
  fc.assert(
    fc.property(
      fc.array(someNode, { minLength: 1, maxLength: 6 }),
      fc.array(somePod, { minLength: 1, maxLength: 25 }),
      (nodes, pods) => {
        const cluster = new TestCluster({ nodes: nodes.map(nodeOf) });
        const placed: Placed[] = [];
        pods.forEach((pod, i) => {
          const name = cluster.run(podOf(pod, i));
          const possible = nodes
            .map((_, at) => at)
            .filter((at) => violation(nodes, placed, pod, at) === undefined);
          if (name === undefined) {
            expect(possible).toEqual([]);
            return;
          }
          const at = Number(name.slice(1));
          expect(violation(nodes, placed, pod, at)).toBeUndefined();
          placed.push({ ...pod, node: at });
        });
      },
    ),
    { numRuns: Number(process.env.PROPERTY_RUNS ?? 150) },
  );
});
