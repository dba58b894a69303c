import type { Process } from '../kernel/process';

/** The expression makes no sense; expr's exit code is 2. */
class ExprError extends Error {}

/** `expr ARG…`: arithmetic, comparison and strings, each operator an argument of its own. Source: POSIX expr. */
export async function expr(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  try {
    const parser = new Parser(args[0] === '--' ? args.slice(1) : args);
    const value = parser.whole();
    await process.print(`${value}\n`);
    return isNull(value) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ExprError)) throw error;
    await process.complain(`expr: ${error.message}\n`);
    return 2;
  }
}

const isNull = (value: string): boolean => value === '' || /^-?0+$/.test(value);
const isNumber = (value: string): boolean => /^-?\d+$/.test(value);

/** From the loosest to the tightest binding. */
const levels: ReadonlyArray<readonly string[]> = [
  ['|'],
  ['&'],
  ['<', '<=', '=', '==', '!=', '>=', '>'],
  ['+', '-'],
  ['*', '/', '%'],
  [':'],
];

class Parser {
  private at = 0;

  constructor(private readonly args: readonly string[]) {}

  whole(): string {
    if (this.args.length === 0) throw new ExprError('syntax error');
    const value = this.binary(0);
    if (this.at < this.args.length) throw new ExprError('syntax error');
    return value;
  }

  private binary(level: number): string {
    const operators = levels[level];
    if (!operators) return this.operand();
    let value = this.binary(level + 1);
    for (;;) {
      const operator = this.args[this.at];
      if (operator === undefined || !operators.includes(operator)) return value;
      this.at += 1;
      value = apply(value, operator, this.binary(level + 1));
    }
  }

  private operand(): string {
    const word = this.next();
    switch (word) {
      case '(': {
        const value = this.binary(0);
        if (this.next() !== ')') throw new ExprError('syntax error');
        return value;
      }
      case 'length':
        return String(this.operand().length);
      case 'match':
        return matched(this.operand(), this.operand());
      case 'index': {
        const text = this.operand();
        const characters = this.operand();
        return String([...text].findIndex((character) => characters.includes(character)) + 1);
      }
      case 'substr': {
        const text = this.operand();
        const start = Number(this.operand());
        const length = Number(this.operand());
        return start >= 1 && length >= 0 ? text.slice(start - 1, start - 1 + length) : '';
      }
      default:
        return word;
    }
  }

  private next(): string {
    const word = this.args[this.at++];
    if (word === undefined) throw new ExprError('syntax error');
    return word;
  }
}

function apply(left: string, operator: string, right: string): string {
  switch (operator) {
    case '|':
      return isNull(left) ? (isNull(right) ? '0' : right) : left;
    case '&':
      return isNull(left) || isNull(right) ? '0' : left;
    case ':':
      return matched(left, right);
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return calculated(left, operator, right);
    default:
      return compared(left, operator, right) ? '1' : '0';
  }
}

function calculated(left: string, operator: string, right: string): string {
  if (!isNumber(left) || !isNumber(right)) throw new ExprError('non-integer argument');
  const [a, b] = [BigInt(left), BigInt(right)];
  if (b === 0n && (operator === '/' || operator === '%')) throw new ExprError('division by zero');
  if (operator === '+') return String(a + b);
  if (operator === '-') return String(a - b);
  if (operator === '*') return String(a * b);
  return String(operator === '/' ? a / b : a % b);
}

function compared(left: string, operator: string, right: string): boolean {
  const areNumbers = isNumber(left) && isNumber(right);
  const order = areNumbers
    ? Number(BigInt(left) - BigInt(right))
    : left < right
      ? -1
      : left === right
        ? 0
        : 1;
  if (operator === '=' || operator === '==') return order === 0;
  if (operator === '!=') return order !== 0;
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

/** What the first group matched, or how many characters matched; anchored at the beginning. */
function matched(text: string, pattern: string): string {
  const found = new RegExp(`^(?:${extendedOf(pattern)})`).exec(text);
  const hasGroup = pattern.includes('\\(');
  if (hasGroup) return found?.[1] ?? '';
  return String(found?.[0].length ?? 0);
}

/** A basic regular expression as JavaScript's: the backslash turns operators on instead of off. */
function extendedOf(basic: string): string {
  let inBrackets = false;
  return basic.replace(/\\(.)|([(){}+?|])|(\[\^?\]?)|(\])/gs, (whole, escaped, plain, opening, closing) => {
    if (inBrackets) {
      if (closing !== undefined) inBrackets = false;
      return whole.startsWith('\\') ? `\\\\${String(escaped)}` : whole;
    }
    if (opening !== undefined) {
      inBrackets = true;
      return whole;
    }
    if (escaped !== undefined) return '(){}+?|'.includes(String(escaped)) ? String(escaped) : whole;
    return plain !== undefined ? `\\${String(plain)}` : whole;
  });
}
