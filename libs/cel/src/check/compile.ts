import { dyn, errorType, formatType, type CelType } from './cel-type';
import { estimateCost, type SizeOf } from './cost-estimator';
import { checkExpression } from './expression-checker';
import type { Names } from './scope';
import { describeFindings } from './findings';
import { literalFindings, patternProblem } from './literal-rules';
import { parse, UnreadableExpression } from './parser';

/** What is known of an expression before it runs. */
export interface Compiled {
  /** What is wrong with it, in cel-go's words; undefined: nothing. */
  readonly error?: string;
  /** `bool`, `list(string)` */
  readonly type: string;
  readonly valueType: CelType;
  /** Which of the variables it speaks of. */
  readonly variables: ReadonlySet<string>;
  /** The most that it can cost. */
  cost(sizeOf: SizeOf): number;
}

const nothing = { variables: new Set<string>(), cost: () => 0 } as const;

/**
 * Compiles an expression as cel-go does. `syntaxError` says what keeps it from being read; where it knows nothing,
 * nothing is known of the expression.
 */
export function compileExpression(
  expression: string,
  names: Names,
  syntaxError: (expression: string) => string | undefined,
): Compiled {
  try {
    const { expression: root, findings } = parse(expression);
    const told = (found: typeof findings): Compiled => ({
      ...nothing,
      type: 'error',
      valueType: errorType,
      error: `compilation failed: ${describeFindings(found, expression)}`,
    });
    if (findings.length > 0) return told(findings);
    const checked = checkExpression(root, names);
    if (checked.findings.length > 0) return told(checked.findings);
    const literals = literalFindings(root);
    if (literals.length > 0) return told(literals);
    const type = formatType(checked.type);
    const compiled: Compiled = {
      type,
      valueType: checked.type,
      variables: checked.variables,
      cost: (sizeOf) => estimateCost(checked, sizeOf).max,
    };
    const problem = patternProblem(root);
    return problem === undefined
      ? compiled
      : { ...compiled, error: `program instantiation failed: ${problem}` };
  } catch (error) {
    if (!(error instanceof UnreadableExpression)) throw error;
    return { ...nothing, type: 'dyn', valueType: dyn, error: syntaxError(expression) };
  }
}
