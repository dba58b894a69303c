import type { Environment } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { equal } from './equality';

type Ordered = bigint | number | string | boolean;
type Summand = bigint | number | Duration | UnsignedInt;

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-list-library and CEL's sets. */
export function registerLists(env: Environment): void {
  env.registerFunction('list<dyn>.isSorted(): bool', (list: readonly Ordered[]) =>
    list.every((item, i) => i === 0 || (list[i - 1] as Ordered) <= item),
  );
  env.registerFunction('list<dyn>.sum(): dyn', (list: readonly Summand[]) => sum(list));
  env.registerFunction('list<dyn>.min(): dyn', (list: readonly Ordered[]) => extreme(list, 'min'));
  env.registerFunction('list<dyn>.max(): dyn', (list: readonly Ordered[]) => extreme(list, 'max'));
  env.registerFunction('list<dyn>.indexOf(dyn): int', (list: readonly unknown[], wanted: unknown) =>
    BigInt(list.findIndex((item) => equal(item, wanted))),
  );
  env.registerFunction('list<dyn>.lastIndexOf(dyn): int', (list: readonly unknown[], wanted: unknown) =>
    BigInt(list.findLastIndex((item) => equal(item, wanted))),
  );
}

function sum(list: readonly Summand[]): Summand {
  const [first, ...rest] = list;
  if (first === undefined) return 0n;
  return rest.reduce(add, first);
}

function add(a: Summand, b: Summand): Summand {
  if (a instanceof Duration && b instanceof Duration) return a.addDuration(b);
  if (a instanceof UnsignedInt && b instanceof UnsignedInt)
    return new UnsignedInt(BigInt(a.valueOf()) + BigInt(b.valueOf()));
  return typeof a === 'bigint' && typeof b === 'bigint' ? a + b : Number(a) + Number(b);
}

function extreme(list: readonly Ordered[], which: 'min' | 'max'): Ordered {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${which} called on empty list`);
  return rest.reduce<Ordered>(
    (best, item) => ((which === 'min' ? item < best : item > best) ? item : best),
    first,
  );
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
