import { deepEqual, isObject } from '../deep';
import { noMergeKey, wrongType } from './strategic-errors';

/** Identity of list elements: the merge key's value of maps, the value itself of scalars (`mergeKey` is ''). */
export type Identify = (element: unknown) => unknown;

export function identifyBy(mergeKey: string): Identify {
  if (mergeKey === '') return (element) => element;
  return (element) => {
    if (!isObject(element)) throw wrongType('map', element);
    if (!Object.hasOwn(element, mergeKey)) throw noMergeKey(element, mergeKey);
    return element[mergeKey];
  };
}

const indexOf = (list: readonly unknown[], element: unknown, identify: Identify): number => {
  const id = identify(element);
  return list.findIndex((other) => deepEqual(identify(other), id));
};

/**
 * Orders a merged list: what the patch names follows the patch's order, the rest keeps the server's order, and where
 * the two meet the server's order decides. Source: apimachinery/pkg/util/strategicpatch normalizeElementOrder.
 */
export function orderElements(
  merged: readonly unknown[],
  patchOrder: readonly unknown[],
  serverOrder: readonly unknown[],
  identify: Identify,
): unknown[] {
  const named = merged.filter((element) => indexOf(patchOrder, element, identify) >= 0);
  const others = merged.filter((element) => indexOf(patchOrder, element, identify) < 0);
  return interleave(
    sortBy(others, serverOrder, identify),
    sortBy(named, patchOrder, identify),
    (left, right) => {
      const [l, r] = [indexOf(serverOrder, left, identify), indexOf(serverOrder, right, identify)];
      return l >= 0 && r >= 0 && l < r;
    },
  );
}

function sortBy(list: readonly unknown[], order: readonly unknown[], identify: Identify): unknown[] {
  const rank = (element: unknown) => {
    const position = indexOf(order, element, identify);
    return position < 0 ? order.length : position;
  };
  return [...list].sort((a, b) => rank(a) - rank(b));
}

function interleave(
  left: readonly unknown[],
  right: readonly unknown[],
  isLeftFirst: (left: unknown, right: unknown) => boolean,
): unknown[] {
  const merged: unknown[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    if (isLeftFirst(left[l], right[r])) merged.push(left[l++]);
    else merged.push(right[r++]);
  }
  return [...merged, ...left.slice(l), ...right.slice(r)];
}
