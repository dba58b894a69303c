import type { ArithExpr } from './syntax';
import { ShellError } from './state';

export interface ArithmeticScope {
  /** A variable's text, '' when unset. */
  get(name: string): string;
  set(name: string, value: string): void;
  getElement(name: string, key: string | number): string;
  setElement(name: string, key: string | number, value: string): void;
  /** The expression as it was written, for messages. */
  source: string;
  divisionByZero(source: string): string;
  /** `$1`, `$#`, `${x:-1}` inside an expression. */
  expand(text: string): Promise<string>;
  /** An expression in a variable's value. */
  parse(text: string): Promise<ArithExpr>;
}

const maxDepth = 64;

/** Shell arithmetic on 64-bit integers. */
export async function evaluate(expr: ArithExpr, scope: ArithmeticScope, depth = 0): Promise<bigint> {
  const go = (next: ArithExpr) => evaluate(next, scope, depth);
  switch (expr.type) {
    case 'ArithNumber':
      return BigInt(Math.trunc(expr.value));
    case 'ArithVariable':
      return valueOf(scope.get(expr.name), scope, depth);
    case 'ArithSpecialVar':
      return valueOf(await scope.expand(`$${expr.name}`), scope, depth);
    case 'ArithBracedExpansion':
      return valueOf(await scope.expand(`\${${expr.content}}`), scope, depth);
    case 'ArithCommandSubst':
      return valueOf(await scope.expand(`$(${expr.command})`), scope, depth);
    case 'ArithGroup':
    case 'ArithNested':
      return go(expr.expression);
    case 'ArithArrayElement':
      return valueOf(
        scope.getElement(expr.array, expr.stringKey ?? (expr.index ? Number(await go(expr.index)) : 0)),
        scope,
        depth,
      );
    case 'ArithTernary':
      return (await go(expr.condition)) !== 0n ? go(expr.consequent) : go(expr.alternate);
    case 'ArithUnary':
      return unary(expr, scope, go);
    case 'ArithBinary':
      return binary(expr, scope, go);
    case 'ArithAssignment':
      return assign(expr, scope, go);
    case 'ArithSingleQuote':
      return BigInt(expr.value);
    case 'ArithConcat': {
      const parts = await Promise.all(expr.parts.map(go));
      return valueOf(parts.join(''), scope, depth);
    }
    default:
      throw new ShellError('arithmetic syntax error');
  }
}

async function valueOf(text: string, scope: ArithmeticScope, depth: number): Promise<bigint> {
  const trimmed = text.trim();
  if (trimmed === '') return 0n;
  if (/^[+-]?(?:0|[1-9]\d*)$/.test(trimmed)) return BigInt(trimmed);
  if (/^0[xX][0-9a-fA-F]+$/.test(trimmed)) return BigInt(trimmed);
  if (/^0[0-7]+$/.test(trimmed)) return BigInt(`0o${trimmed.slice(1)}`);
  if (depth >= maxDepth) throw new ShellError(`${trimmed}: expression recursion level exceeded`);
  return evaluate(await scope.parse(trimmed), scope, depth + 1);
}

type Evaluate = (expr: ArithExpr) => Promise<bigint>;

async function unary(
  expr: Extract<ArithExpr, { type: 'ArithUnary' }>,
  scope: ArithmeticScope,
  go: Evaluate,
): Promise<bigint> {
  const { operator, operand, prefix } = expr;
  const value = await go(operand);
  switch (operator) {
    case '-':
      return -value;
    case '+':
      return value;
    case '!':
      return value === 0n ? 1n : 0n;
    case '~':
      return ~value;
    case '++':
    case '--': {
      const next = operator === '++' ? value + 1n : value - 1n;
      if (operand.type === 'ArithVariable') scope.set(operand.name, String(next));
      else if (operand.type === 'ArithArrayElement')
        scope.setElement(operand.array, operand.index ? Number(await go(operand.index)) : 0, String(next));
      return prefix ? next : value;
    }
  }
}

async function binary(
  expr: Extract<ArithExpr, { type: 'ArithBinary' }>,
  scope: ArithmeticScope,
  go: Evaluate,
): Promise<bigint> {
  const left = await go(expr.left);
  if (expr.operator === '&&') return left !== 0n && (await go(expr.right)) !== 0n ? 1n : 0n;
  if (expr.operator === '||') return left !== 0n || (await go(expr.right)) !== 0n ? 1n : 0n;
  const right = await go(expr.right);
  mayDivide(expr.operator, right, scope);
  return calculate(expr.operator, left, right);
}

function mayDivide(operator: string, by: bigint, scope: ArithmeticScope): void {
  if ((operator === '/' || operator === '%') && by === 0n)
    throw new ShellError(scope.divisionByZero(scope.source));
}

const truth = (value: boolean): bigint => (value ? 1n : 0n);

function calculate(operator: string, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return BigInt.asIntN(64, left + right);
    case '-':
      return BigInt.asIntN(64, left - right);
    case '*':
      return BigInt.asIntN(64, left * right);
    case '/':
    case '%':
      return operator === '/' ? left / right : left % right;
    case '**':
      return BigInt.asIntN(64, left ** right);
    case '<<':
      return BigInt.asIntN(64, left << right);
    case '>>':
      return left >> right;
    case '<':
      return truth(left < right);
    case '<=':
      return truth(left <= right);
    case '>':
      return truth(left > right);
    case '>=':
      return truth(left >= right);
    case '==':
      return truth(left === right);
    case '!=':
      return truth(left !== right);
    case '&':
      return left & right;
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    default:
      return right;
  }
}

async function assign(
  expr: Extract<ArithExpr, { type: 'ArithAssignment' }>,
  scope: ArithmeticScope,
  go: Evaluate,
): Promise<bigint> {
  const { operator, variable, subscript, value } = expr;
  const index = subscript ? Number(await go(subscript)) : undefined;
  const right = await go(value);
  mayDivide(operator.slice(0, -1), right, scope);
  const before = index === undefined ? scope.get(variable) : scope.getElement(variable, index);
  const result =
    operator === '=' ? right : calculate(operator.slice(0, -1), await valueOf(before, scope, 0), right);
  if (index === undefined) scope.set(variable, String(result));
  else scope.setElement(variable, index, String(result));
  return result;
}
