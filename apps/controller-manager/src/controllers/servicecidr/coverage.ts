import type { IPAddress, ServiceCIDR } from '@tinkernetes/api';
import { cidrContains, parseCidr } from '@tinkernetes/apimachinery';

const managedBy = 'ipaddress.kubernetes.io/managed-by';
const allocator = 'ipallocator.k8s.io';

function containsRange(outer: string, inner: string): boolean {
  const [large, small] = [parseCidr(outer), parseCidr(inner)];
  return (
    large !== undefined &&
    small !== undefined &&
    large.bits <= small.bits &&
    cidrContains(outer, small.address)
  );
}

const holdsAddress = (cidr: ServiceCIDR, address: string): boolean =>
  (cidr.spec?.cidrs ?? []).some((range) => cidrContains(range, address));

/** Ranges that share addresses: what happens to one may free or block the other. */
export const overlap = (a: ServiceCIDR, b: ServiceCIDR): boolean =>
  (a.spec?.cidrs ?? []).some((x) =>
    (b.spec?.cidrs ?? []).some((y) => containsRange(x, y) || containsRange(y, x)),
  );

/**
 * Whether addresses that are given out would be in no ServiceCIDR any more without this one.
 * Source: k8s.io/kubernetes/pkg/controller/servicecidrs canDeleteCIDR.
 */
export function wouldLeaveOrphans(
  cidr: ServiceCIDR,
  { all, addresses }: { all: readonly ServiceCIDR[]; addresses: readonly IPAddress[] },
): boolean {
  const others = all.filter((other) => other.metadata.name !== cidr.metadata.name);
  const hasParent = (cidr.spec?.cidrs ?? []).every((range) =>
    others.some((other) => (other.spec?.cidrs ?? []).some((outer) => containsRange(outer, range))),
  );
  if (hasParent) return false;
  return addresses.some(
    ({ metadata: { name, labels } }) =>
      labels?.[managedBy] === allocator &&
      holdsAddress(cidr, name) &&
      !others.some((other) => holdsAddress(other, name)),
  );
}
