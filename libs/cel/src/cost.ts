import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, isComprehension } from './ast';

/** Upstream's `PerCallLimit`: what one expression may cost. Source: k8s.io/apiserver/pkg/apis/cel/config.go. */
export const perCallLimit = 1_000_000;
/** Upstream's `RuntimeCELCostBudget`: what all expressions of one object or request may cost together. */
export const requestBudget = 10_000_000;

export const costExceeded = 'operation cancelled: actual cost limit exceeded';

/**
 * An upper bound of what an expression costs over collections of at most `largest` elements: one a step, and a
 * comprehension's body once for each element. It is known before the expression runs, so nothing has to be cut off.
 */
export function costOf(node: ASTNode, largest: number): number {
  if (node.op === 'rcall' && isComprehension(node.args[0])) {
    const [, receiver, args] = node.args;
    const size = Math.max(largest, literalSize(receiver));
    return 1 + costOf(receiver, largest) + size * sum(args, largest);
  }
  return 1 + sum(childrenOf(node), largest);
}

const sum = (nodes: readonly ASTNode[], largest: number): number =>
  nodes.reduce((total, node) => total + costOf(node, largest), 0);

const literalSize = (node: ASTNode): number =>
  node.op === 'list' || node.op === 'map' ? node.args.length : 0;

const sizes = new WeakMap<object, number>();

/** The size of the largest list or map in converted values; each value is looked at once. */
export function largestCollection(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (!Array.isArray(value) && !(value instanceof Map)) return 0;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  const items: Iterable<unknown> = value.values();
  let largest = Array.isArray(value) ? value.length : value.size;
  for (const item of items) largest = Math.max(largest, largestCollection(item));
  sizes.set(value, largest);
  return largest;
}
