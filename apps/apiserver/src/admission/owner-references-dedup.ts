import type { KubeObject, OwnerReference } from '@tinkernetes/api';
import { deepEqual } from '@tinkernetes/apimachinery';
import type { AdmissionPlugin } from '../contracts';

/**
 * Drops owner references that are there twice, with a warning. In upstream a part of the request handlers
 * (k8s.io/apiserver/pkg/endpoints/handlers.dedupOwnerReferencesAndAddWarning), here a plugin that can't be switched off.
 */
export const ownerReferencesDedup: AdmissionPlugin = {
  name: 'OwnerReferencesDedup',
  handles: ({ object }) => (object?.metadata.ownerReferences?.length ?? 0) > 1,
  mutate: ({ object, warn }) => {
    const references = object?.metadata.ownerReferences ?? [];
    const kept: OwnerReference[] = [];
    const repeated = new Set<string>();
    for (const reference of references) {
      if (kept.some((other) => deepEqual(other, reference))) repeated.add(reference.uid);
      else kept.push(reference);
    }
    if (!object || repeated.size === 0) return object;
    warn(
      `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].sort().join(', ')}`,
    );
    return { ...object, metadata: { ...object.metadata, ownerReferences: kept } } as KubeObject;
  },
};
