import type { Container, Pod, PodSpec, ResourceRequirements } from '@tinkernetes/api';
import { child, forbidden, index, invalid, qosClassOf, semanticEqual } from '@tinkernetes/apimachinery';
import type { Errors } from '../../rules';
import { isMirror, wholePodPath, withSpecOnly } from './subresource-update';
import { validateWholePod } from './validate';

const lists = ['containers', 'initContainers'] as const;
const parts = ['limits', 'requests'] as const;
const resizable = new Set(['cpu', 'memory']);

/**
 * A resize takes resources and their policies from the new Pod and nothing else; where the containers are others, the
 * validation is to see that. Source: pod strategy.dropNonResizeUpdates.
 */
export function preparePodResize(pod: Pod, old: Pod): Pod {
  if (validateSameContainers(pod.spec, old.spec).length > 0) return pod;
  const { initContainers } = old.spec;
  const { resources: _, ...kept } = old.spec;
  return withSpecOnly(pod, old, {
    ...kept,
    containers: withResourcesOf(old.spec.containers, pod.spec.containers),
    ...(initContainers && { initContainers: withResourcesOf(initContainers, pod.spec.initContainers) }),
    ...(pod.spec.resources && { resources: pod.spec.resources }),
  });
}

const withResourcesOf = (old: readonly Container[], list: readonly Container[] = []): Container[] =>
  old.map((container, i) => {
    const { resizePolicy: _policy, resources: _resources, ...kept } = container;
    const { resources, resizePolicy } = list[i] ?? container;
    return { ...kept, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });

/** Only what a node can change while the Pod runs, and never the Pod's class. Source: core/validation.ValidatePodResize. */
export function validatePodResize(pod: Pod, old: Pod): Errors {
  if (isMirror(old)) return [forbidden(wholePodPath, 'static pods cannot be resized')];
  if (old.spec.os?.name === 'windows') return [forbidden(wholePodPath, 'windows pods cannot be resized')];
  const errors = validateWholePod(pod);
  if (qosClassOf(pod.spec) !== (old.status?.qosClass ?? qosClassOf(old.spec))) {
    const detail = 'Pod QOS Class may not change as a result of resizing';
    errors.push(invalid('spec', pod.status?.qosClass ?? '', detail));
  }
  errors.push(...validatePodLevel(pod.spec, old.spec));
  const others = validateSameContainers(pod.spec, old.spec);
  if (others.length > 0) return [...errors, ...others];
  const removed = lists.flatMap((list) =>
    (old.spec[list] ?? []).flatMap(({ resources }, i) => {
      const path = child(index(`spec.${list}`, i), 'resources');
      return validateNotRemoved(pod.spec[list]?.[i]?.resources, resources, path);
    }),
  );
  const isSame = semanticEqual(withoutComputeResources(pod.spec), withoutComputeResources(old.spec));
  return [
    ...errors,
    ...removed,
    ...(isSame ? [] : [forbidden('spec', 'only cpu and memory resources are mutable')]),
  ];
}

function validateSameContainers(spec: PodSpec, old: PodSpec): Errors {
  return lists.flatMap((list) => {
    const [names, before] = [spec[list] ?? [], old[list] ?? []].map((all) => all.map(({ name }) => name));
    const path = `spec.${list}`;
    if (names?.length !== before?.length)
      return [forbidden(path, `${list} may not be added or removed on resize`)];
    return semanticEqual(names, before)
      ? []
      : [forbidden(path, `${list} may not be renamed or reordered on resize`)];
  });
}

function validatePodLevel({ resources }: PodSpec, { resources: old }: PodSpec): Errors {
  if (!old) return [];
  if (!resources) return [forbidden('spec.resources', 'pod-level resources cannot be removed')];
  return validateNotRemoved(resources, old, 'spec.resources');
}

const validateNotRemoved = (
  resources: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
  path: string,
): Errors =>
  parts.flatMap((part) => {
    const now = resources?.[part] ?? {};
    const isKept = Object.keys(old?.[part] ?? {}).every((name) => Object.hasOwn(now, name));
    return isKept ? [] : [forbidden(child(path, part), `resource ${part} cannot be removed`)];
  });

/** The specification as it has to stay. */
function withoutComputeResources({ resources, ...spec }: PodSpec): PodSpec {
  const reduced = (list: readonly Container[] = []) =>
    list.map((container) => ({ ...container, resources: fixedParts(container.resources) }));
  return {
    ...spec,
    containers: reduced(spec.containers),
    initContainers: reduced(spec.initContainers),
    resources: fixedParts(resources),
  };
}

function fixedParts(resources: ResourceRequirements | undefined): ResourceRequirements {
  const fixed = (quantities: ResourceRequirements['limits']) =>
    Object.fromEntries(Object.entries(quantities ?? {}).filter(([name]) => !resizable.has(name)));
  return { limits: fixed(resources?.limits), requests: fixed(resources?.requests) };
}
