import { bool, bytes, double, int, nullType, string, uint, type CelType } from './cel-type';
import type { Expression, MapLiteral, StructLiteral } from './expression';
import { tokensOf, UnreadableExpression, type Token } from './lexer';
import { MacroError, Macros } from './macros';

export { UnreadableExpression } from './lexer';

/** A mistake that the parser finds, and where. */
export interface Finding {
  readonly message: string;
  readonly position: number;
}

export interface Parsed {
  readonly expression: Expression;
  readonly findings: readonly Finding[];
}

const reserved: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Operators between two operands, those that bind weakest first. */
const binary: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['<', '<=', '>=', '>', '==', '!=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];
const nameOf = (operator: string): string => (operator === 'in' ? '@in' : `_${operator}_`);

/** Reads an expression with its macros expanded; throws UnreadableExpression for what is none. */
export const parse = (text: string): Parsed => new Parser(tokensOf(text)).parse();

class Parser {
  private at = 0;
  private lastId = 0;
  private readonly findings: Finding[] = [];
  private readonly macros = new Macros({ next: () => this.id() });

  constructor(private readonly tokens: readonly Token[]) {}

  parse(): Parsed {
    const expression = this.ternary();
    if (this.peek().kind !== 'end') throw new UnreadableExpression(`unexpected ${this.peek().text}`);
    return { expression, findings: this.findings };
  }

  private id = (): number => ++this.lastId;
  private peek = (): Token => this.tokens[this.at] as Token;

  private take(text: string): Token | undefined {
    const token = this.peek();
    const isWord = token.kind === 'symbol' || token.kind === 'name';
    if (!isWord || token.text !== text) return undefined;
    this.at++;
    return token;
  }

  private expect(text: string): Token {
    const token = this.take(text);
    if (!token) throw new UnreadableExpression(`${text} is missing`);
    return token;
  }

  private call(name: string, position: number, args: readonly Expression[], target?: Expression): Expression {
    return { kind: 'call', id: this.id(), position, name, args, ...(target && { target }) };
  }

  private ternary(): Expression {
    const condition = this.operation(0);
    const mark = this.take('?');
    if (!mark) return condition;
    const yes = this.operation(0);
    this.expect(':');
    return this.call('_?_:_', mark.position, [condition, yes, this.ternary()]);
  }

  private operation(level: number): Expression {
    const operators = binary[level];
    if (!operators) return this.unary();
    let left = this.operation(level + 1);
    for (;;) {
      const operator = this.peek();
      const isOperator = operators.includes(operator.text) && ['symbol', 'name'].includes(operator.kind);
      if (!isOperator) return left;
      this.at++;
      left = this.call(nameOf(operator.text), operator.position, [left, this.operation(level + 1)]);
    }
  }

  private unary(): Expression {
    for (const operator of ['!', '-']) {
      const token = this.take(operator);
      if (!token) continue;
      const next = this.peek();
      if (operator === '-' && (next.kind === 'int' || next.kind === 'double')) {
        return this.members(this.literal(next.kind === 'int' ? int : double, token.position, '-'));
      }
      let count = 1;
      while (this.take(operator)) count++;
      const operand = this.members(this.primary());
      return count % 2 === 0 ? operand : this.call(`${operator}_`, token.position, [operand]);
    }
    return this.members(this.primary());
  }

  private literal(type: CelType, position: number, sign = ''): Expression {
    const { text, kind } = this.peek();
    this.at++;
    if (kind === 'int' || kind === 'uint')
      this.checkRange(kind, `${sign}${text.replace(/u$/i, '')}`, position);
    return { kind: 'literal', id: this.id(), position, type, text: sign + text };
  }

  private checkRange(kind: 'int' | 'uint', text: string, position: number): void {
    const value = text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text);
    const fits =
      kind === 'int' ? value >= -(2n ** 63n) && value < 2n ** 63n : value >= 0n && value < 2n ** 64n;
    if (!fits) this.findings.push({ message: `invalid ${kind} literal`, position });
  }

  private members(start: Expression): Expression {
    let value = start;
    for (;;) {
      const dot = this.take('.');
      if (dot) value = this.member(value, dot);
      else if (this.peek().text === '[' && this.peek().kind === 'symbol') value = this.index(value);
      else return value;
    }
  }

  private member(operand: Expression, dot: Token): Expression {
    const optional = this.take('?');
    const name = this.name();
    if (optional) {
      const field: Expression = {
        kind: 'literal',
        id: this.id(),
        position: name.position,
        type: string,
        text: name.text,
      };
      return this.call('_?._', dot.position, [operand, field]);
    }
    const open = this.take('(');
    if (!open) {
      return {
        kind: 'select',
        id: this.id(),
        position: dot.position,
        operand,
        field: plain(name.text),
        isTest: false,
      };
    }
    const args = this.list(')');
    const use = { target: operand, args, position: open.position };
    const expanded = this.expanded(() => this.macros.receiver(name.text, use));
    return expanded ?? this.call(name.text, open.position, args, operand);
  }

  private index(operand: Expression): Expression {
    const open = this.expect('[');
    const optional = this.take('?');
    const key = this.ternary();
    this.expect(']');
    return this.call(optional ? '_[?_]' : '_[_]', open.position, [operand, key]);
  }

  private primary(): Expression {
    const token = this.peek();
    switch (token.kind) {
      case 'int':
        return this.literal(int, token.position);
      case 'uint':
        return this.literal(uint, token.position);
      case 'double':
        return this.literal(double, token.position);
      case 'string':
        return this.literal(string, token.position);
      case 'bytes':
        return this.literal(bytes, token.position);
      case 'name':
        return this.named();
      default:
        return this.bracketed(token);
    }
  }

  private bracketed(token: Token): Expression {
    if (this.take('(')) {
      const inner = this.ternary();
      this.expect(')');
      return inner;
    }
    if (this.take('[')) return this.listLiteral(token.position);
    if (this.take('{')) return this.mapLiteral(token.position);
    if (this.take('.')) return this.named();
    throw new UnreadableExpression(`unexpected ${token.text}`);
  }

  private named(): Expression {
    const { text, position } = this.peek();
    if (text === 'true' || text === 'false') return this.literal(bool, position);
    if (text === 'null') return this.literal(nullType, position);
    const name = this.name();
    if (reserved.has(text)) this.findings.push({ message: `reserved identifier: ${text}`, position });
    const open = this.take('(');
    if (open) {
      const args = this.list(')');
      if (text !== 'has' || args.length !== 1) return this.call(text, open.position, args);
      return (
        this.expanded(() => this.macros.has(args[0], open.position)) ?? this.call(text, open.position, args)
      );
    }
    return this.structLiteral(name) ?? { kind: 'ident', id: this.id(), position, name: text };
  }

  /** `Object.metadata{labels: …}`: names joined by dots before a brace. */
  private structLiteral(first: Token): Expression | undefined {
    const start = this.at;
    const names = [first.text];
    while (this.take('.')) {
      if (this.peek().kind !== 'name') break;
      names.push(this.name().text);
    }
    const brace = this.take('{');
    if (!brace) {
      this.at = start;
      return undefined;
    }
    const fields: StructLiteral['fields'][number][] = [];
    while (!this.take('}')) {
      const optional = this.take('?') !== undefined;
      const name = plain(this.name().text);
      const { position } = this.expect(':');
      fields.push({ name, position, optional, value: this.ternary() });
      if (!this.take(',') && this.peek().text !== '}') throw new UnreadableExpression('} is missing');
    }
    return { kind: 'struct', id: this.id(), position: brace.position, name: names.join('.'), fields };
  }

  private listLiteral(position: number): Expression {
    const id = this.id();
    const optional = new Set<number>();
    const elements: Expression[] = [];
    while (!this.take(']')) {
      if (this.take('?')) optional.add(elements.length);
      elements.push(this.ternary());
      if (!this.take(',') && this.peek().text !== ']') throw new UnreadableExpression('] is missing');
    }
    return { kind: 'list', id, position, elements, optional };
  }

  private mapLiteral(position: number): Expression {
    const id = this.id();
    const entries: MapLiteral['entries'][number][] = [];
    while (!this.take('}')) {
      const optional = this.take('?') !== undefined;
      const key = this.ternary();
      this.expect(':');
      entries.push({ key, value: this.ternary(), optional });
      if (!this.take(',') && this.peek().text !== '}') throw new UnreadableExpression('} is missing');
    }
    return { kind: 'map', id, position, entries };
  }

  private list(end: string): Expression[] {
    const items: Expression[] = [];
    if (this.take(end)) return items;
    do items.push(this.ternary());
    while (this.take(','));
    this.expect(end);
    return items;
  }

  private name(): Token {
    const token = this.peek();
    if (token.kind !== 'name' || token.text === 'in')
      throw new UnreadableExpression(`no name: ${token.text}`);
    this.at++;
    return token;
  }

  /** What is wrong with a macro is said beside what else is wrong. */
  private expanded(expand: () => Expression | undefined): Expression | undefined {
    try {
      return expand();
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      this.findings.push({ message: error.message, position: error.position });
      return undefined;
    }
  }
}

/** Without the quotes that names of odd fields have. */
const plain = (name: string): string => name.replaceAll('`', '');
