import type { Node } from '@tinkernetes/api';

/** Of resources that the kubelet knows nothing of, what Pods may have, and which of them are no more (null in a patch). */
export interface AdvertisedResources {
  offered: Readonly<Record<string, string>>;
  gone: Readonly<Record<string, null>>;
}

export const noResources: AdvertisedResources = { offered: {}, gone: {} };

/** `example.com/dongle`; those of Kubernetes itself and of devices are the kubelet's own affair. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !/(^|\.)kubernetes\.io\//.test(name) && !name.startsWith('requests.');

/**
 * What somebody has written into a Node's capacity, as cluster administrators do for resources outside of Kubernetes.
 * Source: https://kubernetes.io/docs/tasks/administer-cluster/extended-resource-node/; pkg/kubelet/nodestatus MachineInfo.
 */
export function advertisedResources(
  { status }: Node,
  devices: Readonly<Record<string, string>>,
): AdvertisedResources {
  const isAdvertised = (name: string) => isExtended(name) && !(name in devices);
  const offered = Object.fromEntries(
    Object.entries(status?.capacity ?? {})
      .filter(([name]) => isAdvertised(name))
      .map(([name, quantity]) => [name, String(quantity)]),
  );
  const gone = Object.fromEntries(
    Object.keys(status?.allocatable ?? {})
      .filter((name) => isAdvertised(name) && !(name in offered))
      .map((name) => [name, null]),
  );
  return { offered, gone };
}
