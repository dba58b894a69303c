import type {
  DeviceTaint,
  DeviceToleration,
  Pod,
  ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { claimNameOf, isOwnedBy } from '../resourceclaim/pod-claims';

/** An allocated device, as far as its name goes. */
export interface DeviceName {
  driver: string;
  pool: string;
  device: string;
}

/** What of the cluster decides over a Pod. */
export interface DevicesInUse {
  claimNamed(name: string): ResourceClaim | undefined;
  /** Its NoExecute taints. */
  taintsOf(device: DeviceName): readonly DeviceTaint[];
}

/**
 * When a Pod has to go because of its devices' NoExecute taints, epoch milliseconds: the earliest time of all claims
 * that are allocated and reserved for it; undefined: never.
 * Source: k8s.io/kubernetes/pkg/controller/devicetainteviction podEvictionTime.
 */
export function podEvictionTime(pod: Pod, devices: DevicesInUse): number | undefined {
  if (!pod.spec.nodeName) return undefined;
  const times = (pod.spec.resourceClaims ?? []).flatMap((entry) => {
    const name = claimNameOf(pod, entry);
    const claim = name === undefined ? undefined : devices.claimNamed(name);
    if (!claim || (entry.resourceClaimTemplateName && !isOwnedBy(claim, pod))) return [];
    if (!claim.status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid)) return [];
    return claimEvictionTimes(claim, devices);
  });
  return times.length > 0 ? Math.min(...times) : undefined;
}

function claimEvictionTimes({ status }: ResourceClaim, { taintsOf }: DevicesInUse): number[] {
  return (status?.allocation?.devices?.results ?? []).flatMap((result) =>
    taintsOf(result).flatMap((taint) => evictionTime(taint, result.tolerations ?? []) ?? []),
  );
}

/** The shortest time of all tolerations that fit; one without a time ignores the taint. */
function evictionTime(taint: DeviceTaint, tolerations: readonly DeviceToleration[]): number | undefined {
  // The server says when the taint came, unless another wrote the slice past it: nothing is known to wait for then.
  const addedAt = taint.timeAdded ? Date.parse(taint.timeAdded) : 0;
  const fitting = tolerations.filter((t) => t.effect === 'NoExecute' && tolerates(t, taint));
  if (fitting.length === 0) return addedAt;
  const seconds = fitting.map(({ tolerationSeconds }) => tolerationSeconds);
  if (seconds.includes(undefined)) return undefined;
  return addedAt + Math.max(0, Math.min(...seconds.map((s) => s ?? 0))) * 1000;
}

const tolerates = ({ key, operator = 'Equal', value = '' }: DeviceToleration, taint: DeviceTaint): boolean =>
  (!key || key === taint.key) && (operator === 'Exists' || value === (taint.value ?? ''));
