import { Namespaces, Nodes } from '@tinkernetes/api';
import type { Binding, KubeObject, Pod, Toleration } from '@tinkernetes/api';
import { deepEqual } from '@tinkernetes/apimachinery';
import type { AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns, notAdmitted, notAdmittedYet } from './answers';

/** Hard anti-affinity between Pods is for nodes only: wider, one Pod could keep a whole zone for itself. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  handles: (a) => (a.operation === 'CREATE' || a.operation === 'UPDATE') && concerns(a, { resource: 'pods' }),
  validate: (a) => {
    const terms =
      (a.object as Pod).spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const other = terms.find((term) => term.topologyKey !== 'kubernetes.io/hostname');
    if (!other) return;
    throw notAdmitted(
      a,
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key kubernetes.io/hostname is allowed`,
    );
  },
};

/** Pods that ask for extended resources tolerate the taint that keeps others off their nodes. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  handles: (a) => (a.operation === 'CREATE' || a.operation === 'UPDATE') && concerns(a, { resource: 'pods' }),
  mutate: ({ object }) => {
    const pod = object as Pod;
    if (!pod.spec) return pod;
    const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
    const names = new Set(
      containers.flatMap((c) => Object.keys(c.resources?.requests ?? {})).filter(isExtendedResource),
    );
    const own = pod.spec.tolerations ?? [];
    const added = [...names]
      .sort()
      .map((key): Toleration => ({ key, operator: 'Exists' }))
      .filter((toleration) => !own.some((t) => deepEqual(t, toleration)));
    if (added.length === 0) return pod;
    return { ...pod, spec: { ...pod.spec, tolerations: [...own, ...added] } } as KubeObject;
  },
};

const isExtendedResource = (name: string): boolean =>
  name.includes('/') && !name.startsWith('requests.') && !/(^|\.)kubernetes\.io\//.test(name);

const selectorAnnotation = 'scheduler.alpha.kubernetes.io/node-selector';

/** Pods run only on nodes that their namespace's annotation selects. */
export function podNodeSelector(stores: StoreRegistry): AdmissionPlugin {
  return {
    name: 'PodNodeSelector',
    handles: (a) => a.operation === 'CREATE' && concerns(a, { resource: 'pods' }),
    mutate: (a) => {
      const pod = a.object as Pod;
      const text = stores.for(Namespaces).peek(a.namespace)?.metadata.annotations?.[selectorAnnotation];
      if (!pod.spec || !text) return pod;
      const wanted = Object.fromEntries(
        text.split(',').map((pair) => pair.split('=').map((part) => part.trim()) as [string, string]),
      );
      const own = pod.spec.nodeSelector ?? {};
      if (Object.entries(wanted).some(([key, value]) => own[key] !== undefined && own[key] !== value)) {
        throw notAdmittedYet(a, 'pod node label selector conflicts with its namespace node label selector');
      }
      return { ...pod, spec: { ...pod.spec, nodeSelector: { ...wanted, ...own } } } as KubeObject;
    },
  };
}

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** A Pod is told the zone and region of its node by labels: when it is bound, or made for a node. KEP-4742. */
export function podTopologyLabels(stores: StoreRegistry): AdmissionPlugin {
  return {
    name: 'PodTopologyLabels',
    handles: (a) =>
      a.operation === 'CREATE' &&
      a.group === '' &&
      (a.resource === 'bindings' || a.subresource === 'binding' || concerns(a, { resource: 'pods' })),
    mutate: ({ object }) => {
      const node = stores.for(Nodes).peek(nodeNameOf(object) ?? '');
      const labels = Object.fromEntries(
        topologyLabels.flatMap((key) => {
          const value = node?.metadata.labels?.[key];
          return value === undefined ? [] : [[key, value]];
        }),
      );
      if (!object || Object.keys(labels).length === 0) return object;
      return {
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
      };
    },
  };
}

/** Of a Pod's binding, or of a Pod. */
function nodeNameOf(object: KubeObject | undefined): string | undefined {
  const { target, spec } = (object ?? {}) as Partial<Binding & Pod>;
  if (!target) return spec?.nodeName;
  return target.kind && target.kind !== 'Node' ? undefined : target.name;
}
