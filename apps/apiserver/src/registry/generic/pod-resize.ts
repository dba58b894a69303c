import type { Container, Pod, PodSpec, ResourceRequirements } from '@tinkernetes/api';
import { forbidden, invalid, qosClassOf } from '@tinkernetes/apimachinery';
import type { FieldError, SubresourceRules } from '../../contracts';
import { validateResources } from '../pod-spec/resources';

const resizable = new Set(['cpu', 'memory']);

/**
 * What `pods/{name}/resize` may change: the CPU and memory of containers, within the Pod's QoS class.
 * Source: https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/
 */
export const podResize: SubresourceRules<Pod> = {
  prepareForUpdate: (pod, old) => ({
    ...old,
    metadata: pod.metadata,
    spec: {
      ...old.spec,
      containers: withResourcesOf(old.spec.containers, pod.spec.containers),
      ...(old.spec.initContainers
        ? { initContainers: withResourcesOf(old.spec.initContainers, pod.spec.initContainers ?? []) }
        : undefined),
    },
  }),
  validateUpdate: (pod, old) => {
    const errors = resourceErrors(pod.spec);
    if (errors.length) return errors;
    if (changesOthers(pod.spec, old.spec))
      return [forbidden('spec', 'only cpu and memory resources are mutable')];
    const before = old.status?.qosClass ?? qosClassOf(old.spec);
    return qosClassOf(pod.spec) === before
      ? []
      : [invalid('spec', before, 'Pod QOS Class may not change as a result of resizing')];
  },
};

function withResourcesOf(containers: readonly Container[], wanted: readonly Container[]): Container[] {
  const byName = new Map(wanted.map((container) => [container.name, container]));
  return containers.map((container) => {
    const given = byName.get(container.name);
    if (!given) return container;
    const { resizePolicy = container.resizePolicy } = given;
    return { ...container, resources: given.resources, ...(resizePolicy ? { resizePolicy } : undefined) };
  });
}

function resourceErrors({ containers, initContainers = [] }: PodSpec): FieldError[] {
  const each = (list: readonly Container[], path: string) =>
    list.flatMap(({ resources }, i) => [...validateResources(resources, `${path}[${i}].resources`)]);
  return [...each(containers, 'spec.containers'), ...each(initContainers, 'spec.initContainers')];
}

function changesOthers(spec: PodSpec, old: PodSpec): boolean {
  const fixed = ({ containers, initContainers = [] }: PodSpec) =>
    JSON.stringify([...containers, ...initContainers].map(({ resources }) => fixedParts(resources)));
  return fixed(spec) !== fixed(old);
}

/** What a resize has to leave as it is. */
function fixedParts(resources: ResourceRequirements | undefined): unknown {
  const others = (quantities: ResourceRequirements['limits']) =>
    Object.entries(quantities ?? {})
      .filter(([name]) => !resizable.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  return [others(resources?.limits), others(resources?.requests), resources?.claims ?? []];
}
