import type { SharedInformerFactory } from '@tinkernetes/informers';
import type { Handle } from './types';

/** What all profiles of one scheduler must have in common: each has plugins of its own, but devices are given out once. */
export function onePerScheduler<T>(create: (handle: Handle) => T): (handle: Handle) => T {
  const made = new WeakMap<SharedInformerFactory, { value: T }>();
  return (handle) => {
    const known = made.get(handle.informers);
    if (known) return known.value;
    const value = create(handle);
    made.set(handle.informers, { value });
    return value;
  };
}
