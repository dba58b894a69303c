import type {
  Container,
  ContainerPort,
  KubeObject,
  NodeSelectorTerm,
  PodAffinity,
  PodSpec,
  Volume,
} from '@tinkernetes/api';
import { child, index, isDns1123Label, isLabelValue, mapKey, Quantity } from '@tinkernetes/apimachinery';

const deprecatedNodeLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};
const deprecationOf = (label: string): string | undefined =>
  Object.hasOwn(deprecatedNodeLabels, label) ? deprecatedNodeLabels[label] : undefined;

/** Volume sources that are going away: field → how it is reported and since when. */
const deprecatedVolumes = {
  photonPersistentDisk: ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  gitRepo: ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  scaleIO: ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  flocker: ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  storageos: ['storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  quobyte: ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  glusterfs: ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  cephfs: ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  rbd: ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
} as const;

/** Whether an update changed what its kind's generation counts; only then upstream warns of a Pod template again. */
export const isTold = ({ metadata }: KubeObject, old: KubeObject | undefined): boolean =>
  !old || metadata.generation !== old.metadata.generation;

/** Source: k8s.io/kubernetes/pkg/api/pod.GetWarningsForPod. */
export function podSpecWarnings(spec: PodSpec | undefined, path: string): string[] {
  if (!spec) return [];
  const containers = containersOf(spec, path);
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) => {
      const message = deprecationOf(key);
      return message ? [`${path}.nodeSelector[${key}]: ${message}`] : [];
    }),
    ...nodeAffinityWarnings(spec, path),
    ...spreadWarnings(spec, path),
    ...volumeWarnings(spec, path),
    ...repeated(
      spec.hostAliases?.map(({ ip }) => ip),
      child(path, 'hostAliases'),
      'ip',
    ),
    ...repeated(
      spec.imagePullSecrets?.map(({ name = '' }) => name),
      child(path, 'imagePullSecrets'),
      'name',
    ),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name }, i) =>
      name ? [] : [`${index(child(path, 'imagePullSecrets'), i)}.name: invalid empty name ""`],
    ),
    ...containers.flatMap(([container, at]) => [
      ...fractionalBytes(container, at),
      ...hiddenEnv(container, at),
    ]),
    ...portWarnings(containers),
    ...portNameWarnings(containers),
    ...(spec.terminationGracePeriodSeconds !== undefined && spec.terminationGracePeriodSeconds < 0
      ? [
          `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...podAffinityWarnings(spec.affinity?.podAffinity, child(path, 'affinity', 'podAffinity')),
    ...podAffinityWarnings(spec.affinity?.podAntiAffinity, child(path, 'affinity', 'podAntiAffinity')),
  ];
}

/** Of workloads: their names become those of Pods, and host names. */
export function podNameWarnings({ metadata }: KubeObject): string[] {
  const problems = isDns1123Label(metadata.name);
  return problems.length === 0
    ? []
    : [
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
      ];
}

type Placed = readonly [Container, string];

/** All containers with their paths, in the order in which upstream visits them. */
function containersOf(spec: PodSpec, path: string): Placed[] {
  const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
  return lists.flatMap((list) =>
    ((spec[list] ?? []) as Container[]).map(
      (container, i) => [container, index(child(path, list), i)] as const,
    ),
  );
}

function nodeAffinityWarnings(spec: PodSpec, path: string): string[] {
  const affinity = spec.affinity?.nodeAffinity;
  const at = child(path, 'affinity', 'nodeAffinity');
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...required.flatMap((term, i) =>
      termWarnings(
        term,
        index(child(at, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'), i),
      ),
    ),
    ...preferred.flatMap(({ preference }, i) => {
      const termPath = `${index(child(at, 'preferredDuringSchedulingIgnoredDuringExecution'), i)}.preference`;
      return [...termWarnings(preference, termPath), ...valueWarnings(preference, termPath)];
    }),
  ];
}

const termWarnings = (term: NodeSelectorTerm, path: string): string[] =>
  (term.matchExpressions ?? []).flatMap(({ key }, i) => {
    const message = deprecationOf(key);
    return message ? [`${index(child(path, 'matchExpressions'), i)}.key: ${key} is ${message}`] : [];
  });

const valueWarnings = (term: NodeSelectorTerm, path: string): string[] =>
  (term.matchExpressions ?? []).flatMap(({ values }, i) =>
    (values ?? []).flatMap((value, v) => {
      const at = index(`${index(child(path, 'matchExpressions'), i)}.values`, v);
      return isLabelValue(value).map((text) => `${at}: ${value} is invalid, ${text}`);
    }),
  );

const nullSelector = 'a null labelSelector results in matching no pod';

const spreadWarnings = (spec: PodSpec, path: string): string[] =>
  (spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey, labelSelector }, i) => {
    const at = index(child(path, 'topologySpreadConstraints'), i);
    const message = deprecationOf(topologyKey);
    return [
      ...(message ? [`${at}.topologyKey: ${topologyKey} is ${message}`] : []),
      ...(labelSelector ? [] : [`${at}.labelSelector: ${nullSelector}`]),
    ];
  });

function podAffinityWarnings(affinity: PodAffinity | undefined, path: string): string[] {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const requiredPath = child(path, 'requiredDuringSchedulingIgnoredDuringExecution');
  const preferredPath = child(path, 'preferredDuringSchedulingIgnoredDuringExecution');
  return [
    ...required.flatMap(({ labelSelector }, i) =>
      labelSelector ? [] : [`${index(requiredPath, i)}.labelSelector: ${nullSelector}`],
    ),
    ...preferred.flatMap(({ podAffinityTerm }, i) =>
      podAffinityTerm?.labelSelector
        ? []
        : [`${index(preferredPath, i)}.podAffinityTerm.labelSelector: ${nullSelector}`],
    ),
  ];
}

const volumeWarnings = (spec: PodSpec, path: string): string[] =>
  (spec.volumes ?? []).flatMap((volume, i) => [
    ...(Object.keys(deprecatedVolumes) as Array<keyof typeof deprecatedVolumes>)
      .filter((name) => volume[name])
      .map((name) => {
        const [field, since] = deprecatedVolumes[name];
        return `${index(child(path, 'volumes'), i)}.${field}: ${since}`;
      }),
    ...overlapWarnings(volume),
    ...(volume.projected?.sources ?? [])
      .filter((source) => Object.keys(source).length === 0)
      .map(() => `volume "${volume.name}" (Projected) has no sources provided`),
  ]);

/** Files of one volume that would lie in or on one another. */
function overlapWarnings({ name, configMap, secret, downwardAPI }: Volume): string[] {
  const parts: Array<[string, Array<{ path: string }> | undefined]> = [
    [`ConfigMap ${JSON.stringify(configMap?.name)}`, configMap?.items],
    [`Secret ${JSON.stringify(secret?.secretName)}`, secret?.items],
    ['DownwardAPI', downwardAPI?.items],
  ];
  const inside = (path: string, other: string) => `${path}/`.startsWith(`${other}/`);
  return parts.flatMap(([what, items = []]) => {
    const paths = items.map(({ path }) => path.replace(/\/+$/, ''));
    return paths.flatMap((path, i) =>
      paths
        .slice(0, i)
        .filter((other) => path !== '' && other !== '' && (inside(path, other) || inside(other, path)))
        .map(
          (other) =>
            `volume "${name}" (${what}): overlapping paths: ${JSON.stringify(path)} with ${JSON.stringify(other)}`,
        ),
    );
  });
}

function repeated(values: readonly string[] | undefined, path: string, field: string): string[] {
  return (values ?? []).flatMap((value, i, all) =>
    all.indexOf(value) < i ? [`${index(path, i)}.${field}: duplicate ${field} ${JSON.stringify(value)}`] : [],
  );
}

function fractionalBytes({ resources }: Container, path: string): string[] {
  return ['memory', 'ephemeral-storage'].flatMap((name) =>
    (['limits', 'requests'] as const).flatMap((part) => {
      const quantity = Quantity.tryParse(resources?.[part]?.[name]);
      if (!quantity || quantity.milliValue() % 1000 === 0) return [];
      const at = mapKey(child(path, 'resources', part), name);
      return [`${at}: fractional byte value "${quantity.toString()}" is invalid, must be an integer`];
    }),
  );
}

/** A variable given twice is right only where the second is made of the first. */
function hiddenEnv({ env = [] }: Container, path: string): string[] {
  const seen = new Set<string>();
  return env.flatMap(({ name, value = '', valueFrom }, i) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    const isBad = valueFrom !== undefined || value === reference || !value.includes(reference);
    return isRepeated && isBad
      ? [
          `${index(child(path, 'env'), i)}: hides previous definition of "${name}", which may be dropped when using apply`,
        ]
      : [];
  });
}

function portWarnings(containers: readonly Placed[]): string[] {
  const taken = new Map<string, Array<{ at: string; port: ContainerPort }>>();
  return containers.flatMap(([{ ports = [] }, path]) =>
    ports.flatMap((port, i) => {
      const at = index(child(path, 'ports'), i);
      const key = `${port.containerPort}/${port.protocol ?? 'TCP'}`;
      const others = taken.get(key) ?? [];
      taken.set(key, [...others, { at, port }]);
      return [
        ...(port.hostIP && !port.hostPort ? [`${at}: hostIP set without hostPort: ${goPort(port)}`] : []),
        ...others.flatMap((other) => {
          const clash = portClash(port, other.port);
          return clash ? [`${at}: ${clash} port definition with ${other.at}`] : [];
        }),
      ];
    }),
  );
}

/** As Go's `%+v` prints the port. */
const goPort = ({ name = '', hostPort = 0, containerPort, protocol = 'TCP', hostIP = '' }: ContainerPort) =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

function portClash(port: ContainerPort, other: ContainerPort): string | undefined {
  const [a, b] = [port.hostPort ?? 0, other.hostPort ?? 0];
  if ((port.hostIP ?? '') === (other.hostIP ?? '') && a === b) return 'duplicate';
  if (a === 0 || b === 0) return 'overlapping';
  return a === b && !port.hostIP !== !other.hostIP ? 'dangerously ambiguous' : undefined;
}

function portNameWarnings(containers: readonly Placed[]): string[] {
  const first = new Map<string, string>();
  return containers.flatMap(([{ ports = [] }, path]) =>
    ports.flatMap(({ name }, i) => {
      if (!name) return [];
      const at = index(child(path, 'ports'), i);
      const other = first.get(name);
      if (other === undefined) first.set(name, at);
      return other === undefined
        ? []
        : [
            `${at}: duplicate port name "${name}" with ${other}, services and probes that select ports by name will use ${other}`,
          ];
    }),
  );
}
