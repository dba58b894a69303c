import type { Environment } from '@marcbachmann/cel-js';

type Numeric = bigint | number;

/** CEL's math extension, as far as Kubernetes enables it. */
export function registerMath(env: Environment): void {
  class MathNamespace {}
  const type = 'kubernetes.Math';
  env.registerType(type, { ctor: MathNamespace, fields: {} });
  env.registerConstant('math', type, new MathNamespace());
  const pick = (name: 'greatest' | 'least') => {
    const best = (values: readonly Numeric[]) =>
      values.reduce((a, b) => ((name === 'greatest' ? b > a : b < a) ? b : a));
    env.registerFunction(`${type}.${name}(list<dyn>): dyn`, (_: MathNamespace, list: readonly Numeric[]) =>
      best(list),
    );
    for (const count of [2, 3, 4]) {
      const parameters = Array.from({ length: count }, () => 'dyn').join(', ');
      env.registerFunction(`${type}.${name}(${parameters}): dyn`, (_: MathNamespace, ...values: Numeric[]) =>
        best(values),
      );
    }
  };
  pick('greatest');
  pick('least');
  const rounding = { ceil: Math.ceil, floor: Math.floor, round: Math.round, trunc: Math.trunc } as const;
  for (const [name, round] of Object.entries(rounding)) {
    env.registerFunction(`${type}.${name}(double): double`, (_: MathNamespace, value: number) =>
      round(value),
    );
  }
  env.registerFunction(`${type}.abs(dyn): dyn`, (_: MathNamespace, value: Numeric) =>
    value < 0 ? -value : value,
  );
}
