import type { KubeObject } from '@tinkernetes/api';
import type { WriteContext } from './write-context';

/** Keeps managedFields current over a write. Until the tracker is there, what the object brings stays. */
export function trackManagedFields(
  _live: KubeObject | undefined,
  next: KubeObject,
  _context: WriteContext,
  _now: number,
): KubeObject {
  return next;
}
