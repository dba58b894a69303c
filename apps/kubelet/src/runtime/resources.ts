import type { Container, Pod, Quantity } from '@tinkernetes/api';
import {
  Quantity as ParsedQuantity,
  qosClassOf as qosClassOfSpec,
  type QosClass,
} from '@tinkernetes/apimachinery';
import type { DeepPartial, LinuxContainerResources } from '@tinkernetes/cri';

export const qosClassOf = (pod: Pod): QosClass => qosClassOfSpec(pod.spec);
type Resources = Record<string, Quantity> | undefined;

/** A quantity's amount; NaN for text that is none, which the API server would not have let in. */
export function amountOf(quantity: Quantity | undefined): number {
  if (quantity === undefined) return 0;
  return ParsedQuantity.tryParse(quantity)?.toNumber() ?? NaN;
}

/** Millicores, rounded up. */
const milliOf = (quantity: Quantity | undefined): number =>
  ParsedQuantity.tryParse(quantity)?.milliValue() ?? 0;

const quotaPeriod = 100_000;

/**
 * cgroup numbers of one container; without limits of its own it has the Pod's.
 * Source: pkg/kubelet/cm MilliCPUToShares, MilliCPUToQuota; KEP-2837.
 */
export function linuxResources(
  pod: Pod,
  container: Container,
  memoryCapacity: number,
): DeepPartial<LinuxContainerResources> {
  const { requests, limits } = container.resources ?? {};
  const ofPod = pod.spec.resources?.limits;
  const cpuLimit = milliOf(limits?.cpu) || milliOf(ofPod?.cpu);
  const cpuRequest = requests?.cpu === undefined ? cpuLimit : milliOf(requests.cpu);
  return {
    cpuShares: cpuShares(cpuRequest),
    cpuPeriod: quotaPeriod,
    cpuQuota: cpuLimit === 0 ? 0 : Math.max(1000, Math.floor((cpuLimit * quotaPeriod) / 1000)),
    memoryLimitInBytes: Math.ceil(amountOf(limits?.memory) || amountOf(ofPod?.memory)),
    oomScoreAdj: oomScoreAdjust(pod, container, memoryCapacity),
  };
}

function cpuShares(milliCPU: number): number {
  return milliCPU === 0 ? 2 : Math.min(262_144, Math.max(2, Math.floor((milliCPU * 1024) / 1000)));
}

/** Source: pkg/kubelet/qos GetContainerOOMScoreAdjust. */
function oomScoreAdjust(pod: Pod, container: Container, memoryCapacity: number): number {
  if ((pod.spec.priority ?? 0) >= 2_000_000_000) return -997;
  switch (qosClassOf(pod)) {
    case 'Guaranteed':
      return -997;
    case 'BestEffort':
      return 1000;
    case 'Burstable': {
      const request = amountOf(container.resources?.requests?.memory);
      const adjust = Math.floor(1000 - (1000 * request) / Math.max(1, memoryCapacity));
      return Math.min(999, Math.max(3, adjust));
    }
  }
}

/** `/kubepods/burstable/pod<uid>`: the Pod's place in the cgroup tree (cgroupfs driver). */
export function cgroupParent(pod: Pod): string {
  const qos = qosClassOf(pod);
  const middle = qos === 'Guaranteed' ? '' : `/${qos.toLowerCase()}`;
  return `/kubepods${middle}/pod${pod.metadata.uid ?? ''}`;
}

/** The container's own limit, else what the node has to give. */
export function effectiveLimit(container: Container, resource: string, allocatable: Resources): Quantity {
  return container.resources?.limits?.[resource] ?? allocatable?.[resource] ?? '0';
}
