import type { KubeObject } from '@tinkernetes/api';
import type { AdmissionAttributes, AdmissionPlugin } from '../contracts';

/** Lets each mutating plugin change the object in turn. */
export async function runMutating(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
): Promise<KubeObject> {
  let current = attributes;
  for (const plugin of plugins) {
    if (!plugin.mutate || !plugin.handles(current)) continue;
    const changed = plugin.mutate(current);
    const object = changed instanceof Promise ? await changed : changed;
    if (object && object !== current.object) current = { ...attributes, object };
  }
  if (!current.object) throw new Error('mutating admission without an object');
  return current.object;
}

/** The first rejection ends the request. */
export async function runValidating(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
): Promise<void> {
  for (const plugin of plugins) {
    if (!plugin.validate || !plugin.handles(attributes)) continue;
    const verdict = plugin.validate(attributes);
    if (verdict instanceof Promise) await verdict;
  }
}
