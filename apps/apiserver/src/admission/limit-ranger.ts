import { LimitRanges } from '@tinkernetes/api';
import type { Container, KubeObject, LimitRange, PersistentVolumeClaim, Pod } from '@tinkernetes/api';
import { podLimits, podRequests, quantitiesOf } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns, notAdmitted } from './answers';
import { limitErrors, requestErrors } from './limit-constraints';

type ResourceList = Readonly<Record<string, string | number>>;

/** Fills in and bounds what containers, Pods and claims ask for. https://kubernetes.io/docs/concepts/policy/limit-range/ */
export function limitRanger(stores: StoreRegistry): AdmissionPlugin {
  const ranges = stores.for(LimitRanges);
  return {
    name: 'LimitRanger',
    handles: (a) =>
      (a.operation === 'CREATE' && (isPod(a) || isClaim(a))) || (a.operation === 'UPDATE' && isClaim(a)),
    mutate: (a) =>
      isPod(a)
        ? ranges.list(a.namespace).reduce((pod, range) => withDefaults(pod, range), a.object as Pod)
        : a.object,
    validate: (a) => {
      // Those after the first that is broken are not looked at.
      for (const range of ranges.list(a.namespace)) {
        const errors = isPod(a) ? podErrors(a.object as Pod, range) : claimErrors(a.object, range);
        if (errors.length === 0) continue;
        throw notAdmitted(a, errors.length > 1 ? `[${errors.join(', ')}]` : (errors[0] ?? ''));
      }
    },
  };
}

const isPod = (a: AdmissionAttributes): boolean => concerns(a, { resource: 'pods' });
const isClaim = (a: AdmissionAttributes): boolean => concerns(a, { resource: 'persistentvolumeclaims' });

function withDefaults(pod: Pod, range: LimitRange): Pod & KubeObject {
  const ofContainers = (range.spec?.limits ?? []).filter((limit) => limit.type === 'Container');
  const requests: ResourceList = Object.assign({}, ...ofContainers.map((limit) => limit.defaultRequest));
  const limits: ResourceList = Object.assign({}, ...ofContainers.map((limit) => limit.default));
  if (!pod.spec) return pod as Pod & KubeObject;
  const notes: string[] = [];
  const fill = (what: string) => (container: Container) => {
    const own = container.resources ?? {};
    const addedRequests = missing(requests, own.requests);
    const addedLimits = missing(limits, own.limits);
    if (addedRequests.length > 0)
      notes.push(`${addedRequests.join(', ')} request for ${what} ${container.name}`);
    if (addedLimits.length > 0) notes.push(`${addedLimits.join(', ')} limit for ${what} ${container.name}`);
    if (addedRequests.length + addedLimits.length === 0) return container;
    return {
      ...container,
      resources: {
        ...own,
        ...(addedLimits.length > 0 && { limits: { ...limits, ...own.limits } }),
        ...(addedRequests.length > 0 && { requests: { ...requests, ...own.requests } }),
      },
    };
  };
  const containers = pod.spec.containers.map(fill('container'));
  const initContainers = pod.spec.initContainers?.map(fill('init container'));
  if (notes.length === 0) return pod as Pod & KubeObject;
  const annotation = { 'kubernetes.io/limit-ranger': `LimitRanger plugin set: ${notes.join('; ')}` };
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotation } },
    spec: { ...pod.spec, containers, ...(initContainers && { initContainers }) },
  } as Pod & KubeObject;
}

const missing = (defaults: ResourceList, own: ResourceList = {}): string[] =>
  Object.keys(defaults)
    .filter((name) => own[name] === undefined)
    .sort();

function podErrors({ spec }: Pod, range: LimitRange): string[] {
  if (!spec) return [];
  return (range.spec?.limits ?? []).flatMap((limit) => {
    switch (limit.type) {
      case 'Container':
        return [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
          limitErrors(limit, {
            requests: quantitiesOf(resources?.requests),
            limits: quantitiesOf(resources?.limits),
          }),
        );
      case 'Pod':
        return limitErrors(limit, { requests: podRequests({ spec }), limits: podLimits({ spec }) });
      default:
        return [];
    }
  });
}

const claimErrors = (object: KubeObject | undefined, range: LimitRange): string[] =>
  (range.spec?.limits ?? [])
    .filter((limit) => limit.type === 'PersistentVolumeClaim')
    .flatMap((limit) =>
      requestErrors(limit, quantitiesOf((object as PersistentVolumeClaim).spec?.resources?.requests)),
    );
