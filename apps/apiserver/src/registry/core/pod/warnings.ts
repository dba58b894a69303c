import type {
  Container,
  ContainerPort,
  KubeObject,
  NodeSelectorTerm,
  PodAffinity,
  PodSpec,
} from '@tinkernetes/api';
import { child, index, isDns1123Label, isLabelValue, mapKey, warningsForIp } from '@tinkernetes/apimachinery';
import { placedContainers } from '../../pod-spec/placed-containers';
import type { Placed } from '../../pod-spec/placed-containers';
import { fractionalBytes } from '../persistentvolumeclaim/warnings';
import { volumeWarnings } from './volume-warnings';

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

interface Described {
  metadata?: { annotations?: Record<string, string> };
  spec?: PodSpec;
}

/** Whether an update changed what its kind's generation counts; only then upstream warns of a Pod template again. */
export const isTold = ({ metadata }: KubeObject, old: KubeObject | undefined): boolean =>
  !old || metadata.generation !== old.metadata.generation;

/** Source: k8s.io/kubernetes/pkg/api/pod.GetWarningsForPod. */
export const podWarnings = (pod: Described): string[] => warningsOf(pod, 'metadata', 'spec');

/** Source: k8s.io/kubernetes/pkg/api/pod.GetWarningsForPodTemplate. */
export const templateWarnings = (template: Described | undefined, path: string): string[] =>
  template ? warningsOf(template, child(path, 'metadata'), child(path, 'spec')) : [];

function warningsOf({ metadata, spec }: Described, metadataPath: string, path: string): string[] {
  if (!spec) return [];
  const containers = placedContainers(spec, path);
  const annotations = { given: metadata?.annotations ?? {}, path: child(metadataPath, 'annotations') };
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) => {
      const message = deprecationOf(key);
      return message ? [`${path}.nodeSelector[${key}]: ${message}`] : [];
    }),
    ...nodeAffinityWarnings(spec, path),
    ...spreadWarnings(spec, path),
    ...annotated(annotations, Object.keys(deprecatedAnnotations), (key) => deprecatedAnnotations[key] ?? ''),
    ...volumeWarnings(spec, path),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((ip, i) =>
      warningsForIp(index(child(path, 'dnsConfig', 'nameservers'), i), ip),
    ),
    ...(spec.hostAliases ?? []).flatMap(({ ip }, i) =>
      warningsForIp(`${index(child(path, 'hostAliases'), i)}.ip`, ip),
    ),
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
    ...['memory', 'ephemeral-storage'].flatMap((name) =>
      fractionalBytes(spec.overhead?.[name], mapKey(child(path, 'overhead'), name)),
    ),
    ...(spec.securityContext?.seccompProfile
      ? []
      : annotated(annotations, ['seccomp.security.alpha.kubernetes.io/pod'], () => useField.seccomp)),
    ...containers.flatMap(([container, at]) => [
      ...profileAnnotations(spec, container, annotations),
      ...fractionalResources(container, at),
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

const deprecatedAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};
const useField = {
  seccomp: 'non-functional in v1.27+; use the "seccompProfile" field instead',
  appArmor: 'deprecated since v1.30; use the "appArmorProfile" field instead',
};

interface Annotations {
  given: Readonly<Record<string, string>>;
  path: string;
}

const annotated = (
  { given, path }: Annotations,
  keys: readonly string[],
  message: (key: string) => string,
): string[] =>
  keys.filter((key) => Object.hasOwn(given, key)).map((key) => `${mapKey(path, key)}: ${message(key)}`);

/** Profiles of a container that only annotations give; of AppArmor's, a Pod's own are taken over into its fields. */
function profileAnnotations(spec: PodSpec, container: Container, annotations: Annotations): string[] {
  const { name, securityContext } = container;
  const seccomp = securityContext?.seccompProfile
    ? []
    : annotated(
        annotations,
        [`container.seccomp.security.alpha.kubernetes.io/${name}`],
        () => useField.seccomp,
      );
  const hasField = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
  const isPod = annotations.path === 'metadata.annotations';
  if (hasField || isPod) return seccomp;
  const key = `container.apparmor.security.beta.kubernetes.io/${name}`;
  return [...seccomp, ...annotated(annotations, [key], () => useField.appArmor)];
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

function repeated(values: readonly string[] | undefined, path: string, field: string): string[] {
  return (values ?? []).flatMap((value, i, all) =>
    all.indexOf(value) < i ? [`${index(path, i)}.${field}: duplicate ${field} ${JSON.stringify(value)}`] : [],
  );
}

const fractionalResources = ({ resources }: Container, path: string): string[] =>
  ['memory', 'ephemeral-storage'].flatMap((name) =>
    (['limits', 'requests'] as const).flatMap((part) =>
      fractionalBytes(resources?.[part]?.[name], mapKey(child(path, 'resources', part), name)),
    ),
  );

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
