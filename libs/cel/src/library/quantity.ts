import type { Environment } from '@marcbachmann/cel-js';
import { Quantity } from '@tinkernetes/apimachinery';

const type = 'kubernetes.Quantity';

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-quantity-library */
export function registerQuantity(env: Environment): void {
  env.registerType(type, { ctor: Quantity as unknown as new () => Quantity, fields: {} });
  env.registerFunction(`quantity(string): ${type}`, (text: string) => Quantity.parse(text));
  env.registerFunction('isQuantity(string): bool', (text: string) => Quantity.tryParse(text) !== undefined);
  env.registerFunction(`${type}.sign(): int`, (q: Quantity) => BigInt(q.sign));
  env.registerFunction(`${type}.isInteger(): bool`, (q: Quantity) => q.isInteger);
  env.registerFunction(`${type}.asInteger(): int`, (q: Quantity) => {
    if (!q.isInteger) throw new Error('cannot convert value to integer');
    return BigInt(q.value());
  });
  env.registerFunction(`${type}.asApproximateFloat(): double`, (q: Quantity) => q.toNumber());
  env.registerFunction(`${type}.add(${type}): ${type}`, (a: Quantity, b: Quantity) => a.add(b));
  env.registerFunction(`${type}.add(int): ${type}`, (a: Quantity, b: bigint) => a.add(Quantity.ofValue(b)));
  env.registerFunction(`${type}.sub(${type}): ${type}`, (a: Quantity, b: Quantity) => a.sub(b));
  env.registerFunction(`${type}.sub(int): ${type}`, (a: Quantity, b: bigint) => a.sub(Quantity.ofValue(b)));
  env.registerFunction(
    `${type}.isGreaterThan(${type}): bool`,
    (a: Quantity, b: Quantity) => a.compare(b) > 0,
  );
  env.registerFunction(`${type}.isLessThan(${type}): bool`, (a: Quantity, b: Quantity) => a.compare(b) < 0);
  env.registerFunction(`${type}.compareTo(${type}): int`, (a: Quantity, b: Quantity) => BigInt(a.compare(b)));
  env.registerOperator(`${type} == ${type}`, (a: Quantity, b: Quantity) => a.equals(b));
}
