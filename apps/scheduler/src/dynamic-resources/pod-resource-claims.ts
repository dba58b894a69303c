import type { Pod, ResourceV1ResourceClaim as ResourceClaim } from '@tinkernetes/api';
import { controllerOf } from '@tinkernetes/apimachinery';
import type { Lister } from '@tinkernetes/informers';

/** The claims that the Pod refers to, or why it must wait for one. Source: dynamic-resource-allocation/resourceclaim. */
export function resourceClaimsOf(pod: Pod, claims: Lister<ResourceClaim>): ResourceClaim[] | string {
  const { name: podName, namespace = '' } = pod.metadata;
  const found: ResourceClaim[] = [];
  for (const { name, resourceClaimName, resourceClaimTemplateName } of pod.spec?.resourceClaims ?? []) {
    const generated = pod.status?.resourceClaimStatuses?.find((status) => status.name === name);
    if (resourceClaimTemplateName && !generated)
      return `pod "${namespace}/${podName}": ResourceClaim not created yet`;
    const claimName = resourceClaimName ?? generated?.resourceClaimName;
    // Its controller found that nothing need be made.
    if (claimName === undefined) continue;
    const claim = claims.get(claimName, namespace);
    if (!claim) return `resourceclaim.resource.k8s.io "${claimName}" not found`;
    if (claim.metadata.deletionTimestamp) return `resourceclaim "${claimName}" is being deleted`;
    if (resourceClaimTemplateName && controllerOf(claim)?.uid !== pod.metadata.uid)
      return `ResourceClaim ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`;
    found.push(claim);
  }
  return found;
}

/** Claims are for so many Pods. Source: k8s.io/api/resource/v1.ResourceClaimReservedForMaxSize. */
const maxConsumers = 256;

export const isReservedFor = (pod: Pod, { status }: ResourceClaim): boolean =>
  status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid) ?? false;

export const mayUse = (pod: Pod, claim: ResourceClaim): boolean =>
  (claim.status?.reservedFor?.length ?? 0) < maxConsumers || isReservedFor(pod, claim);
