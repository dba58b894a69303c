import { dyn, structOf, type CelType } from './check/cel-type';
import type { Compiled } from './check/compile';
import type { Names } from './check/scope';

/** Checks expressions against the types of the variables that they are about, without running them. */
export class TypeChecker {
  private readonly declared = new Map<string, CelType>();

  constructor(
    private readonly variables: Readonly<Record<string, CelType>>,
    private readonly compile: (expression: string, names: Names) => Compiled,
  ) {}

  /** What is wrong with the expression, in cel-go's words; undefined: nothing. */
  check(expression: string): string | undefined {
    const { error } = this.compiled(expression);
    // A program is not made of it, so what keeps it from being one is not told.
    return error?.startsWith(compilation) ? error.slice(compilation.length) : undefined;
  }

  /** Makes the expression's value known to those that follow, as `variables.NAME`. */
  declare(name: string, expression: string): void {
    const { error, valueType } = this.compiled(expression);
    this.declared.set(name, error === undefined ? valueType : dyn);
  }

  private compiled(expression: string): Compiled {
    const declared = this.declared.size > 0 && {
      variables: structOf('kubernetes.variables', Object.fromEntries(this.declared)),
    };
    return this.compile(expression, { variables: { ...this.variables, ...declared } });
  }
}

const compilation = 'compilation failed: ';
