import type {
  Pod,
  PodResourceClaim,
  ResourceClaimTemplate,
  ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { controllerOf } from '@tinkernetes/apimachinery';

/** On a claim that was made for a Pod: which of the Pod's entries it is for. */
export const entryAnnotation = 'resource.kubernetes.io/pod-claim-name';

/** Room for a hyphen and five random characters in a name of 63. */
const maxBaseLength = 57;

/** `POD-ENTRY-`; both are cut in proportion where that is too long. */
export function generatedNameBase(podName: string, entry: string): string {
  const base = `${podName}-${entry}-`;
  if (base.length <= maxBaseLength) return base;
  const cut = (name: string) => name.slice(0, Math.trunc((name.length * maxBaseLength) / base.length));
  return `${cut(podName)}-${cut(entry)}`;
}

/** The claim that a template asks to make for a Pod. */
export function claimFor(pod: Pod, entry: string, { spec }: ResourceClaimTemplate): ResourceClaim {
  const owner = {
    apiVersion: 'v1',
    kind: 'Pod',
    name: pod.metadata.name,
    uid: pod.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    metadata: {
      name: '',
      generateName: generatedNameBase(pod.metadata.name, entry),
      labels: spec.metadata?.labels,
      annotations: { ...spec.metadata?.annotations, [entryAnnotation]: entry },
      ownerReferences: [owner],
    },
    spec: spec.spec,
  } as ResourceClaim;
}

/** The claim's name of an entry, where it is known by now. */
export const claimNameOf = (pod: Pod, { name, resourceClaimName }: PodResourceClaim): string | undefined =>
  resourceClaimName ?? pod.status?.resourceClaimStatuses?.find((s) => s.name === name)?.resourceClaimName;

export const isOwnedBy = (claim: ResourceClaim, pod: Pod): boolean =>
  controllerOf(claim)?.uid === pod.metadata.uid;

/** A Pod that runs no more, or never will. Source: pkg/controller/resourceclaim, isPodDone. */
export const isPodDone = ({ metadata, spec, status }: Pod): boolean =>
  status?.phase === 'Succeeded' ||
  status?.phase === 'Failed' ||
  (metadata.deletionTimestamp !== undefined && !spec.nodeName);
