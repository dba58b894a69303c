import type { Lifecycle, PodSpec, PodTemplateSpec, Volume } from '@tinkernetes/api';
import { mapList, mapMember } from '../fill';

/** Without the fields of features that are off. Source: pkg/api/pod.dropDisabledFields. */
export function withoutDisabledFields(spec: PodSpec): PodSpec {
  const { schedulingGroup: _, ...kept } = spec;
  let result: PodSpec = spec.schedulingGroup === undefined ? spec : kept;
  result = mapMember(result, 'volumes', (list) => mapList(list, withoutDisabledProjections));
  result = mapMember(result, 'containers', (list) => mapList(list, withoutStopSignal));
  return mapMember(result, 'initContainers', (list) => mapList(list, withoutStopSignal));
}

/** The same of a template. */
export const withoutDisabledTemplateFields = <T extends PodTemplateSpec>(template: T): T =>
  mapMember(template, 'spec', withoutDisabledFields);

/** The same of an object with a template in its specification. */
export const withoutDisabledInTemplate = <T extends { spec?: { template?: PodTemplateSpec } }>(
  object: T,
): T => mapMember(object, 'spec', (spec) => mapMember(spec, 'template', withoutDisabledTemplateFields));

const withoutDisabledProjections = (volume: Volume): Volume =>
  mapMember(volume, 'projected', (projected) =>
    mapMember(projected, 'sources', (sources) =>
      mapList(sources, (source) => {
        if (source.clusterTrustBundle === undefined && source.podCertificate === undefined) return source;
        const { clusterTrustBundle: _, podCertificate: __, ...kept } = source;
        return kept;
      }),
    ),
  );

function withoutStopSignal<T extends { lifecycle?: Lifecycle }>(container: T): T {
  if (container.lifecycle?.stopSignal === undefined) return container;
  const { stopSignal: _, ...kept } = container.lifecycle;
  return { ...container, lifecycle: Object.keys(kept).length > 0 ? kept : undefined };
}
