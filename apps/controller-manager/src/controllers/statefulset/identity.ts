import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from '@tinkernetes/api';
import { StatefulSets } from '@tinkernetes/api';
import { controllerRefOf } from '@tinkernetes/controller';
import { revisionHashLabel } from '../shared/controller-revisions';
import { podFromTemplate } from '../shared/pod-control';

const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';

export const startOrdinal = (set: StatefulSet): number => set.spec.ordinals?.start ?? 0;
export const podName = (set: StatefulSet, ordinal: number): string => `${set.metadata.name}-${ordinal}`;
export const claimName = (set: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string =>
  `${template.metadata.name}-${podName(set, ordinal)}`;
export const revisionOfPod = (pod: Pod): string => pod.metadata.labels?.[revisionHashLabel] ?? '';

/** The number at the end of a Pod's name when what is before it is the set's; undefined for strangers. */
export function ordinalOf(set: StatefulSet, name: string): number | undefined {
  const match = /^(.*)-(0|[1-9][0-9]*)$/.exec(name);
  return match && match[1] === set.metadata.name ? Number(match[2]) : undefined;
}

/** What tells members apart, also for a Service of one of them. */
export const identityLabels = (name: string, ordinal: number) => ({
  [podNameLabel]: name,
  [podIndexLabel]: String(ordinal),
});

export const hasIdentity = ({ metadata }: Pod): boolean => metadata.labels?.[podNameLabel] === metadata.name;

export interface MemberRevision {
  name: string;
  template: PodTemplateSpec;
}

/** The Pod of one ordinal: stable name, host name, volumes of its own claims. Source: statefulset newStatefulSetPod. */
export function memberPod(set: StatefulSet, ordinal: number, revision: MemberRevision): Pod {
  const name = podName(set, ordinal);
  const pod = podFromTemplate({
    owner: set,
    controllerRef: controllerRefOf(set, StatefulSets),
    template: revision.template,
  });
  const { generateName: _, ...metadata } = pod.metadata;
  const templates = set.spec.volumeClaimTemplates ?? [];
  const own = new Set(templates.map((t) => t.metadata.name));
  const volumes = [
    ...templates.map((t) => ({
      name: t.metadata.name,
      persistentVolumeClaim: { claimName: claimName(set, t, ordinal), readOnly: false },
    })),
    ...(pod.spec.volumes ?? []).filter((v) => !own.has(v.name)),
  ];
  return {
    metadata: {
      ...metadata,
      name,
      labels: {
        ...metadata.labels,
        ...identityLabels(name, ordinal),
        [revisionHashLabel]: revision.name,
      },
    },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}),
      ...(volumes.length > 0 ? { volumes } : {}),
    },
  };
}

/** The claims of one ordinal. They outlive the Pod unless the retention policy says otherwise. */
export function memberClaims(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  const deleteWithSet = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    ...template,
    metadata: {
      ...template.metadata,
      name: claimName(set, template, ordinal),
      namespace: set.metadata.namespace,
      labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
      ...(deleteWithSet ? { ownerReferences: [controllerRefOf(set, StatefulSets)] } : {}),
    },
  }));
}
