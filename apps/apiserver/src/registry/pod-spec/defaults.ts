import type { Container, PodSpec, PodTemplateSpec, ResourceRequirements } from '@tinkernetes/api';
import { aggregateContainers } from '@tinkernetes/apimachinery';
import { fill, mapList, mapMember } from '../fill';
import { defaultContainer, requestLimits } from './container-defaults';
import { defaultResources, roundUpToMilli } from './resource-defaults';
import { isHugePages, isPodLevelResource } from './resources';
import { defaultVolume } from './volume-defaults';

/** Defaults that Pods and Pod templates share. Source: k8s.io/kubernetes/pkg/apis/core/v1.SetDefaults_PodSpec. */
export function defaultPodSpec(spec: PodSpec): PodSpec {
  const account = spec.serviceAccountName || spec.serviceAccount || undefined;
  let result = fill(spec, {
    containers: [],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
  if (account && (result.serviceAccountName !== account || result.serviceAccount !== account)) {
    result = { ...result, serviceAccountName: account, serviceAccount: account };
  }
  result = mapMember(result, 'containers', (list) => mapList(list, defaultContainer));
  result = mapMember(result, 'initContainers', (list) => mapList(list, defaultContainer));
  result = mapMember(result, 'ephemeralContainers', (list) =>
    mapList(list, (container) => defaultContainer(container as Container) as typeof container),
  );
  result = mapMember(result, 'volumes', (list) => mapList(list, defaultVolume));
  result = mapMember(result, 'resources', defaultResources);
  return mapMember(result, 'overhead', roundUpToMilli);
}

export const defaultPodTemplate = <T extends PodTemplateSpec>(template: T): T =>
  mapMember(template, 'spec', defaultPodSpec);

/** Defaults that only Pods get. Source: SetDefaults_Pod. */
export function defaultPodOnly(spec: PodSpec): PodSpec {
  const isHostNetwork = spec.hostNetwork === true;
  const forPod = (container: Container): Container => {
    const requested = mapMember(container, 'resources', requestLimits);
    return isHostNetwork ? withHostPorts(requested) : requested;
  };
  let result = fill(spec, { enableServiceLinks: true });
  if ((result.terminationGracePeriodSeconds ?? 0) < 0)
    result = { ...result, terminationGracePeriodSeconds: 1 };
  result = mapMember(result, 'containers', (list) => mapList(list, forPod));
  result = mapMember(result, 'initContainers', (list) => mapList(list, forPod));
  return mapMember(result, 'resources', (resources) => defaultPodLevel(resources, result));
}

/**
 * Of a Pod whose resources are given in part: its requests are those of its containers, then its limits; its limits of
 * huge pages are those of its containers. Source: core/v1 defaultPodRequests, defaultHugePagePodLimits.
 */
function defaultPodLevel(resources: ResourceRequirements, spec: PodSpec): ResourceRequirements {
  const isEmpty = (list?: object) => Object.keys(list ?? {}).length === 0;
  if (isEmpty(resources.limits) && isEmpty(resources.requests)) return resources;
  const texts = (part: 'requests' | 'limits', isTaken: (name: string) => boolean) =>
    Object.fromEntries(
      [...aggregateContainers(spec, part)]
        .filter(([name]) => isTaken(name))
        .map(([name, quantity]) => [name, quantity.toString()]),
    );
  const limits = { ...texts('limits', isHugePages), ...resources.limits };
  const podLevel = Object.fromEntries(Object.entries(limits).filter(([name]) => isPodLevelResource(name)));
  const ofContainers = texts('requests', (name) => name === 'cpu' || name === 'memory');
  const requests = { ...podLevel, ...ofContainers, ...resources.requests };
  return {
    ...resources,
    ...(isEmpty(limits) ? {} : { limits: sorted(limits) }),
    ...(isEmpty(requests) ? {} : { requests: sorted(requests) }),
  };
}

const sorted = <T extends object>(list: T): T =>
  Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1))) as T;

/** On the host's network every port is the host's. */
function withHostPorts(container: Container): Container {
  return mapMember(container, 'ports', (ports) =>
    mapList(ports, (port) => (port.hostPort ? port : { ...port, hostPort: port.containerPort })),
  );
}
