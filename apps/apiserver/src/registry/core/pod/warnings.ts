import type { PodSpec } from '@tinkernetes/api';
import { child, index } from '@tinkernetes/apimachinery';

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

/** Source: k8s.io/kubernetes/pkg/api/pod.GetWarningsForPod. */
export function podSpecWarnings(spec: PodSpec | undefined, path: string): string[] {
  if (!spec) return [];
  return [
    ...Object.keys(spec.nodeSelector ?? {})
      .filter((key) => Object.hasOwn(deprecatedNodeLabels, key))
      .map((key) => `${path}.nodeSelector[${key}]: ${deprecatedNodeLabels[key]}`),
    ...volumeWarnings(spec, path),
    ...duplicateEnv(spec, path),
    ...portWarnings(spec, path),
    ...(spec.terminationGracePeriodSeconds !== undefined && spec.terminationGracePeriodSeconds < 0
      ? [
          `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
  ];
}

function volumeWarnings(spec: PodSpec, path: string): string[] {
  return (spec.volumes ?? []).flatMap((volume, i) => {
    const at = index(child(path, 'volumes'), i);
    if (volume.gitRepo) return [`${at}.gitRepo: deprecated in v1.11, and disabled by default in v1.33+`];
    if (volume.storageos) return [`${at}.storageOS: deprecated in v1.22, non-functional in v1.25+`];
    if (volume.glusterfs) return [`${at}.glusterfs: deprecated in v1.25, non-functional in v1.26+`];
    if (volume.cephfs) return [`${at}.cephfs: deprecated in v1.28, non-functional in v1.31+`];
    if (volume.rbd) return [`${at}.rbd: deprecated in v1.28, non-functional in v1.31+`];
    return [];
  });
}

function duplicateEnv(spec: PodSpec, path: string): string[] {
  return spec.containers.flatMap((container, c) => {
    const seen = new Set<string>();
    return (container.env ?? []).flatMap(({ name }, i) => {
      const at = index(`${index(child(path, 'containers'), c)}.env`, i);
      const isDuplicate = seen.has(name);
      seen.add(name);
      return isDuplicate
        ? [`${at}: hides previous definition of "${name}", which may be dropped when using apply`]
        : [];
    });
  });
}

function portWarnings(spec: PodSpec, path: string): string[] {
  const taken = new Map<string, string>();
  return spec.containers.flatMap((container, c) =>
    (container.ports ?? []).flatMap((port, i) => {
      const at = index(`${index(child(path, 'containers'), c)}.ports`, i);
      const key = `${port.containerPort}/${port.protocol ?? 'TCP'}/${port.hostIP ?? ''}/${port.hostPort ?? 0}`;
      const first = taken.get(key);
      if (first === undefined) taken.set(key, at);
      return first === undefined ? [] : [`${at}: duplicate port definition with ${first}`];
    }),
  );
}
