import { Optional, type Environment } from '@marcbachmann/cel-js';
import { equal } from './equality';

type Ordered = bigint | number | string | boolean;

/** cel-go's lists extension, and first and last of its optionals. Source: cel-go ext/lists.go. */
export function registerMoreLists(env: Environment): void {
  class Lists {}
  env.registerType('kubernetes.Lists', { ctor: Lists, fields: {} });
  env.registerConstant('lists', 'kubernetes.Lists', new Lists());
  env.registerFunction('kubernetes.Lists.range(int): list<int>', (_: Lists, count: bigint) =>
    Array.from({ length: Math.max(0, Number(count)) }, (_item, i) => BigInt(i)),
  );
  env.registerFunction('list<dyn>.sort(): list<dyn>', (list: readonly Ordered[]) => sorted(list, list));
  env.registerFunction('list<dyn>.distinct(): list<dyn>', (list: readonly unknown[]) =>
    list.filter((item, i) => list.findIndex((other) => equal(item, other)) === i),
  );
  env.registerFunction('list<dyn>.reverse(): list<dyn>', (list: readonly unknown[]) => [...list].reverse());
  env.registerFunction('list<dyn>.slice(int, int): list<dyn>', slice);
  env.registerFunction('list<dyn>.flatten(): list<dyn>', (list: readonly unknown[]) => list.flat(1));
  env.registerFunction('list<dyn>.flatten(int): list<dyn>', (list: readonly unknown[], depth: bigint) => {
    if (depth < 0n) throw new Error('level must be non-negative');
    return list.flat(Number(depth)) as unknown[];
  });
  env.registerFunction('list<dyn>.first(): optional<dyn>', (list: readonly unknown[]) => at(list, 0));
  env.registerFunction('list<dyn>.last(): optional<dyn>', (list: readonly unknown[]) => at(list, -1));
}

const at = (list: readonly unknown[], i: number): Optional =>
  list.length === 0 ? Optional.none() : Optional.of(list.at(i));

function slice(list: readonly unknown[], start: bigint, end: bigint): unknown[] {
  const told = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw new Error(`${told}, negative indexes not supported`);
  if (start > end) throw new Error(`${told}, start index must be less than or equal to end index`);
  if (end > list.length) throw new Error(`${told}, list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

/** The values in the order of their keys, of which each value has one. */
export function sorted<T>(values: readonly T[], keys: readonly Ordered[]): T[] {
  const order = keys.map((key, i) => ({ key, i }));
  order.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.i - b.i));
  return order.map(({ i }) => values[i] as T);
}
