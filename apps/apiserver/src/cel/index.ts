import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { costExceeded, costOf, largestCollection, perCallLimit } from './cost';
import { registerAddresses } from './library/addresses';
import { registerAuthorizer } from './library/authorizer';
import { registerFormats } from './library/format';
import { registerLists, registerSets } from './library/lists';
import { registerMath } from './library/math';
import { registerQuantity } from './library/quantity';
import { registerSemver } from './library/semver';
import { registerJsonPatch, registerStrings } from './library/strings';
import { registerUrls } from './library/urls';

export { costExceeded, requestBudget } from './cost';
export { CelAuthorizer } from './library/authorizer';
export { fromCelValue, toCelValue } from './values';

/** Variables by name; API objects through `toCelValue`. A missing one fails only where it is used. */
export type Activation = Readonly<Record<string, unknown>>;

/** What may be spent on the expressions of one request; counted down as they run. */
export interface CostBudget {
  remaining: number;
}

export interface CelProgram {
  readonly expression: string;
  /** Throws an Error with CEL's message; a Promise where the expression asks the authorizer. */
  evaluate(variables: Activation, budget?: CostBudget): unknown;
}

/** An expression that is no CEL, or has type errors. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
}

/**
 * Kubernetes' CEL: the language, its libraries and its cost limits.
 * Source: https://kubernetes.io/docs/reference/using-api/cel/
 */
export class CelEnvironment {
  private readonly env: Environment;
  private readonly programs = new Map<string, CelProgram>();

  constructor(variables: readonly string[]) {
    this.env = base().clone();
    for (const name of variables) this.env.registerVariable(name, 'dyn');
  }

  /** Throws CelCompileError. Programs are kept: policies and schemas use the same few again and again. */
  compile(expression: string): CelProgram {
    let program = this.programs.get(expression);
    if (!program) this.programs.set(expression, (program = this.create(expression)));
    return program;
  }

  private create(expression: string): CelProgram {
    let parsed;
    try {
      parsed = this.env.parse(expression);
      const { valid, error } = parsed.check();
      if (!valid) throw error ?? new Error('the expression has type errors');
    } catch (error) {
      const message = error instanceof Error ? summaryOf(error) : String(error);
      throw new CelCompileError(`compilation failed: ERROR: <input>:1:1: ${message}`, { cause: error });
    }
    return new Program(expression, parsed.ast, parsed);
  }
}

class Program implements CelProgram {
  constructor(
    readonly expression: string,
    private readonly ast: ASTNode,
    private readonly run: (variables: Activation) => unknown,
  ) {}

  evaluate(variables: Activation, budget?: CostBudget): unknown {
    let largest = 1;
    for (const value of Object.values(variables)) largest = Math.max(largest, largestCollection(value));
    const cost = costOf(this.ast, largest);
    if (cost > Math.min(perCallLimit, budget?.remaining ?? perCallLimit)) throw new Error(costExceeded);
    if (budget) budget.remaining -= cost;
    try {
      return this.run(variables);
    } catch (error) {
      throw error instanceof Error ? new Error(summaryOf(error), { cause: error }) : error;
    }
  }
}

/** The library's messages go on with an excerpt of the source. */
function summaryOf(error: Error): string {
  const { summary } = error as Error & { summary?: string };
  const text = summary ?? error.message.split('\n')[0] ?? '';
  // In cel-go's words.
  return text
    .replace(/^No such key: /, 'no such key: ')
    .replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')");
}

let shared: Environment | undefined;

function base(): Environment {
  if (shared) return shared;
  const env = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  registerStrings(env);
  registerJsonPatch(env);
  registerLists(env);
  registerSets(env);
  registerMath(env);
  registerQuantity(env);
  registerUrls(env);
  registerAddresses(env);
  registerSemver(env);
  registerFormats(env);
  registerAuthorizer(env);
  return (shared = env);
}
