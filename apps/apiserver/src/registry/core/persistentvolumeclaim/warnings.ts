import type { PersistentVolumeClaimSpec } from '@tinkernetes/api';
import { child, mapKey, Quantity } from '@tinkernetes/apimachinery';

/** Source: k8s.io/kubernetes/pkg/api/persistentvolumeclaim.GetWarningsForPersistentVolumeClaimSpec. */
export function claimSpecWarnings(spec: PersistentVolumeClaimSpec | undefined, path: string): string[] {
  return (['requests', 'limits'] as const).flatMap((part) => {
    const at = mapKey(child(path, 'resources', part), 'storage');
    return fractionalBytes(spec?.resources?.[part]?.storage, at);
  });
}

/** Bytes come whole. */
export function fractionalBytes(given: string | number | undefined, path: string): string[] {
  const quantity = Quantity.tryParse(given);
  if (!quantity || quantity.milliValue() % 1000 === 0) return [];
  return [`${path}: fractional byte value "${quantity.toString()}" is invalid, must be an integer`];
}
