import type { KubeObject } from '@tinkernetes/api';
import type { AdmissionAttributes, AdmissionPlugin } from '../contracts';

/** Lets each mutating plugin change the object in turn. */
export async function runMutating(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
): Promise<KubeObject> {
  let object = attributes.object;
  for (const plugin of plugins) {
    if (!plugin.mutate) continue;
    const current = { ...attributes, object };
    if (!plugin.handles(current)) continue;
    object = (await plugin.mutate(current)) ?? object;
  }
  if (!object) throw new Error('mutating admission without an object');
  return object;
}

/** The first rejection ends the request. */
export async function runValidating(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
): Promise<void> {
  for (const plugin of plugins) {
    if (plugin.validate && plugin.handles(attributes)) await plugin.validate(attributes);
  }
}
