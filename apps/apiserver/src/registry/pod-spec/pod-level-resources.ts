import type { PodSpec, ResourceRequirements } from '@tinkernetes/api';
import { aggregateContainers, child, forbidden, invalid, mapKey, Quantity } from '@tinkernetes/apimachinery';
import type { Errors } from '../rules';
import { validateClaimsOf } from './containers';
import { isHugePages, validatePodLevelResourceName, validateResources } from './resources';

/** Resources of the Pod as a whole. Source: core/validation.validatePodResources. */
export function validatePodLevelResources(spec: PodSpec, path: string): Errors {
  const { resources } = spec;
  if (!resources) return [];
  if (spec.os?.name === 'windows') return [forbidden(path, 'may not be set for a windows pod')];
  return [
    ...(resources.claims === undefined
      ? []
      : [forbidden(child(path, 'claims'), 'claims may not be set for Resources at pod-level')]),
    ...validateResources(resources, path, validatePodLevelResourceName),
    ...validateClaimsOf({ resources }, spec, child(path, 'claims')),
    ...notLessThanContainers(spec, path, { part: 'requests', isCompared: () => true }),
    ...notLessThanContainers(spec, path, { part: 'limits', isCompared: isHugePages }),
    ...containersWithin(spec, resources, path),
  ];
}

/** Source: core/validation.validatePodResourceConsistency. */
function notLessThanContainers(
  spec: PodSpec,
  path: string,
  { part, isCompared }: { part: 'requests' | 'limits'; isCompared: (name: string) => boolean },
): Errors {
  const own = spec.resources?.[part] ?? {};
  return [...aggregateContainers(spec, part)].flatMap(([name, sum]) => {
    const text = Object.hasOwn(own, name) ? own[name] : undefined;
    if (text === undefined || !isCompared(name)) return [];
    const given = Quantity.parse(text);
    if (sum.compare(given) <= 0) return [];
    const detail = `must be greater than or equal to aggregate container ${part} of ${sum.toString()}`;
    return [invalid(mapKey(child(path, part), name), given.toString(), detail)];
  });
}

const containersWithin = ({ containers }: PodSpec, { limits = {} }: ResourceRequirements, path: string) =>
  containers.flatMap((container, i) =>
    Object.entries(container.resources?.limits ?? {}).flatMap(([name, text]) => {
      const most = Object.hasOwn(limits, name) ? limits[name] : undefined;
      const limit = Quantity.parse(text);
      if (most === undefined || limit.compare(Quantity.parse(most)) <= 0) return [];
      const at = `${path}.containers[${i}][${name}].limits`;
      const detail = `must be less than or equal to pod limits of ${Quantity.parse(most).toString()}`;
      return [invalid(at, limit.toString(), detail)];
    }),
  );
