import type { ResourceRequirements } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import { mapMember } from '../fill';

/** Quantities are rounded up to thousandths, as upstream's defaulting does. */
export function roundUpToMilli(list: Record<string, string | number>): Record<string, string | number> {
  const rounded: Record<string, string> = {};
  let isSame = true;
  for (const [name, given] of Object.entries(list)) {
    const quantity = Quantity.parse(given);
    const text = quantity.isMilliInteger
      ? quantity.toString()
      : Quantity.ofMilli(quantity.milliValue(), quantity.format).toString();
    if (text !== given) isSame = false;
    rounded[name] = text;
  }
  return isSame ? list : rounded;
}

export function defaultResources<R extends Pick<ResourceRequirements, 'limits' | 'requests'>>(
  resources: R,
): R {
  return mapMember(mapMember(resources, 'limits', roundUpToMilli), 'requests', roundUpToMilli);
}
