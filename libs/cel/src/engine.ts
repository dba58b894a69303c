import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { costExceeded, costOf, largestCollection, perCallLimit } from './cost';
import { registerAddresses } from './library/addresses';
import { registerAuthorizer } from './library/authorizer';
import { registerConversions } from './library/conversions';
import { registerFormats } from './library/format';
import { registerHas, widenHas } from './library/has';
import { registerLists, registerSets } from './library/lists';
import { registerMath } from './library/math';
import { registerMoreLists } from './library/more-lists';
import { registerOptionals } from './library/optionals';
import { registerQuantity } from './library/quantity';
import { registerRegularExpressions, useRe2 } from './library/regular-expressions';
import { registerSemver } from './library/semver';
import { registerJsonPatch, registerQuote, registerStrings } from './library/strings';
import { registerTwoVariables } from './library/two-variables';
import { registerUrls } from './library/urls';
import { withoutOptionalEntries } from './optional-entries';
import { runtimeWords } from './runtime-words';
import type { Activation, CelProgram, CostBudget } from './types';

/** The language with its libraries and some variables. */
export class Engine {
  private readonly env: Environment;

  constructor(variables: readonly string[]) {
    this.env = baseEnvironment().clone();
    for (const name of variables) this.env.registerVariable(name, 'dyn');
  }

  /** Throws an Error that says what is wrong with the expression. */
  create(expression: string): CelProgram {
    try {
      const parsed = this.env.parse(widenHas(withoutOptionalEntries(expression)));
      useRe2(parsed.ast);
      const { valid, error } = parsed.check();
      if (!valid) throw error ?? new Error('the expression has type errors');
      return new Program(expression, parsed.ast, parsed);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      throw new Error(located(error, expression), { cause: error });
    }
  }
}

/** What may begin an operand, as the grammar of cel-go lists it. */
const operands =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** The problem with its place and an excerpt of the source, as cel-go prints it. */
export function located(error: Error, expression: string): string {
  const { node } = error as Error & { node?: { pos?: number } };
  const position = Math.min(node?.pos ?? 0, expression.length);
  const before = expression.slice(0, position).split('\n');
  const column = (before.at(-1) ?? '').length;
  const line = expression.split('\n')[before.length - 1] ?? '';
  const text = problemAt(position, error, expression);
  // There is no first column in nothing, and no excerpt.
  if (expression === '') return `ERROR: <input>:1:0: ${text}`;
  return `ERROR: <input>:${before.length}:${column + 1}: ${text}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function problemAt(position: number, error: Error, expression: string): string {
  const summary = summaryOf(error);
  const rest = expression.slice(position).trim();
  if (/^Unexpected token: /.test(summary)) {
    return `Syntax error: mismatched input '${rest === '' ? '<EOF>' : rest.charAt(0)}' expecting ${operands}`;
  }
  if (!/^Unexpected character: '/.test(summary)) return summary;
  // More follows than an expression: the parser would go on without one token.
  const [token = ''] = /^(\w+|[=!<>]=|&&|\|\||.)/.exec(rest) ?? [];
  const problem = rest === token ? 'extraneous' : 'mismatched';
  return `Syntax error: ${problem} input '${token}' expecting <EOF>`;
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
      const result = this.run(variables);
      return result instanceof Promise ? result.catch(rethrow) : result;
    } catch (error) {
      throw inCelWords(error);
    }
  }
}

function rethrow(error: unknown): never {
  throw inCelWords(error);
}

const inCelWords = (error: unknown): unknown =>
  error instanceof Error ? new Error(runtimeWords(summaryOf(error)), { cause: error }) : error;

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

/** The language with its libraries, without variables. */
export function baseEnvironment(): Environment {
  if (shared) return shared;
  const env = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  registerHas(env);
  registerConversions(env);
  registerOptionals(env);
  registerStrings(env);
  registerQuote(env);
  registerRegularExpressions(env);
  registerTwoVariables(env);
  registerJsonPatch(env);
  registerLists(env);
  registerSets(env);
  registerMoreLists(env);
  registerMath(env);
  registerQuantity(env);
  registerUrls(env);
  registerAddresses(env);
  registerSemver(env);
  registerFormats(env);
  registerAuthorizer(env);
  return (shared = env);
}
