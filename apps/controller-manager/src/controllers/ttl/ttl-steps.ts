/** Sizes overlap, so that a cluster at a boundary does not go to and fro. Source: pkg/controller/ttl ttlBoundaries. */
const steps = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1000, seconds: 30 },
  { min: 900, max: 2000, seconds: 60 },
  { min: 1800, max: Infinity, seconds: 300 },
] as const;

/** The step of a cluster of that many nodes that was at step `before`. */
export function stepFor(nodes: number, before: number): number {
  let step = before;
  while (nodes > (steps[step]?.max ?? Infinity)) step++;
  while (nodes < (steps[step]?.min ?? 0)) step--;
  return step;
}

/** In seconds. */
export const ttlOf = (step: number): number => steps[step]?.seconds ?? 0;
