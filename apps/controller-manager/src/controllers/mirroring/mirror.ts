import type { Endpoint, EndpointAddress, Endpoints, EndpointSubset } from '@tinkernetes/api';
import type { EndpointGroup } from '../endpointslice/plan';

/** Upstream's --mirroring-max-endpoints-per-subset: no more are mirrored, and so many are in one slice. */
export const maxEndpointsPerSubset = 1000;
const skipMirror = 'endpointslice.kubernetes.io/skip-mirror';
const leaderElection = 'control-plane.alpha.kubernetes.io/leader';

/** Endpoints that somebody else manages slices for, or that are no endpoints at all, are left alone. */
export function shouldMirror({ metadata }: Endpoints): boolean {
  const { labels = {}, annotations = {} } = metadata;
  return labels[skipMirror] !== 'true' && annotations[leaderElection] === undefined;
}

/** All but what is about the Endpoints as such. */
export function mirroredAnnotations({ metadata }: Endpoints): Record<string, string> {
  const {
    'endpoints.kubernetes.io/last-change-trigger-time': _changed,
    'kubectl.kubernetes.io/last-applied-configuration': _applied,
    ...annotations
  } = metadata.annotations ?? {};
  return annotations;
}

/** How many addresses are more than a subset may have. */
export const skippedOf = (subsets: readonly EndpointSubset[]): number =>
  subsets.reduce((sum, { addresses = [], notReadyAddresses = [] }) => {
    const surplus = addresses.length + notReadyAddresses.length - maxEndpointsPerSubset;
    return sum + Math.max(0, surplus);
  }, 0);

export type Family = 'IPv4' | 'IPv6';

/** The subsets of one address family as groups of endpoints with the same ports. */
export function groupsOf(subsets: readonly EndpointSubset[], family: Family): EndpointGroup[] {
  return subsets.flatMap((subset) => {
    const endpoints = [
      ...endpointsOf(subset.addresses, family, true),
      ...endpointsOf(subset.notReadyAddresses, family, false),
    ].slice(0, maxEndpointsPerSubset);
    if (endpoints.length === 0) return [];
    const ports = (subset.ports ?? []).map(({ name, port, protocol, appProtocol }) => ({
      name: name ?? '',
      port,
      protocol: protocol ?? 'TCP',
      ...(appProtocol ? { appProtocol } : {}),
    }));
    return [{ ports, endpoints }];
  });
}

const endpointsOf = (
  addresses: readonly EndpointAddress[] | undefined,
  family: Family,
  ready: boolean,
): Endpoint[] =>
  (addresses ?? [])
    .filter(({ ip }) => (ip.includes(':') ? 'IPv6' : 'IPv4') === family)
    .map(({ ip, hostname, nodeName, targetRef }) => ({
      addresses: [ip],
      conditions: { ready },
      ...(hostname ? { hostname } : {}),
      ...(nodeName ? { nodeName } : {}),
      ...(targetRef ? { targetRef } : {}),
    }));
