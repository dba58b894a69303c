import type { DeviceTaint, ResourceSlice } from '@tinkernetes/api';

/** Where a device is published: the pool of a driver. */
export const poolKey = (driver: string, pool: string): string => `${driver}/${pool}`;

export const poolKeyOf = ({ spec }: ResourceSlice): string => poolKey(spec.driver, spec.pool.name);

/** The NoExecute taints of a device. Of a pool's slices only those of the newest generation count. */
export function evictingTaints(slicesOfPool: readonly ResourceSlice[], device: string): DeviceTaint[] {
  const newest = Math.max(...slicesOfPool.map(({ spec }) => spec.pool.generation));
  return slicesOfPool
    .filter(({ spec }) => spec.pool.generation === newest)
    .flatMap(({ spec }) => (spec.devices ?? []).filter(({ name }) => name === device))
    .flatMap(({ taints = [] }) => taints.filter(({ effect }) => effect === 'NoExecute'));
}
