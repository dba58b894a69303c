import type { Environment } from '@marcbachmann/cel-js';

type Ordered = bigint | number | string | boolean;

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-list-library and CEL's sets. */
export function registerLists(env: Environment): void {
  env.registerFunction('list<dyn>.isSorted(): bool', (list: readonly Ordered[]) =>
    list.every((item, i) => i === 0 || (list[i - 1] as Ordered) <= item),
  );
  env.registerFunction('list<dyn>.sum(): dyn', (list: readonly (bigint | number)[]) => sum(list));
  env.registerFunction('list<dyn>.min(): dyn', (list: readonly Ordered[]) => extreme(list, 'min'));
  env.registerFunction('list<dyn>.max(): dyn', (list: readonly Ordered[]) => extreme(list, 'max'));
  env.registerFunction('list<dyn>.indexOf(dyn): int', (list: readonly unknown[], wanted: unknown) =>
    BigInt(list.findIndex((item) => equal(item, wanted))),
  );
  env.registerFunction('list<dyn>.lastIndexOf(dyn): int', (list: readonly unknown[], wanted: unknown) =>
    BigInt(list.findLastIndex((item) => equal(item, wanted))),
  );
}

function sum(list: readonly (bigint | number)[]): bigint | number {
  return list.reduce<bigint | number>(
    (total, item) =>
      typeof total === 'bigint' && typeof item === 'bigint' ? total + item : Number(total) + Number(item),
    typeof list[0] === 'number' ? 0 : 0n,
  );
}

function extreme(list: readonly Ordered[], which: 'min' | 'max'): Ordered {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${which} called on empty list`);
  return rest.reduce<Ordered>(
    (best, item) => ((which === 'min' ? item < best : item > best) ? item : best),
    first,
  );
}

/** Deep equality of CEL values; ints equal doubles of the same value. */
export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, item]) => b.has(key) && equal(item, b.get(key)));
  }
  if (typeof a === 'bigint' && typeof b === 'number') return Number(a) === b;
  if (typeof a === 'number' && typeof b === 'bigint') return a === Number(b);
  return a === b;
}

/** CEL's sets extension: `sets.contains`, `sets.equivalent`, `sets.intersects`. */
export function registerSets(env: Environment): void {
  class Sets {}
  env.registerType('kubernetes.Sets', { ctor: Sets, fields: {} });
  env.registerConstant('sets', 'kubernetes.Sets', new Sets());
  const contains = (list: readonly unknown[], wanted: readonly unknown[]) =>
    wanted.every((item) => list.some((other) => equal(item, other)));
  const define = (name: string, test: (a: readonly unknown[], b: readonly unknown[]) => boolean) =>
    env.registerFunction(
      `kubernetes.Sets.${name}(list<dyn>, list<dyn>): bool`,
      (_: Sets, a: readonly unknown[], b: readonly unknown[]) => test(a, b),
    );
  define('contains', contains);
  define('equivalent', (a, b) => contains(a, b) && contains(b, a));
  define('intersects', (a, b) => a.some((item) => b.some((other) => equal(item, other))));
}
