import { tokenize } from './label-lexer';
import type { Token } from './label-lexer';
import { aggregate, keyErrors, newRequirement } from './requirement';
import type { LabelOperator, Requirement } from './requirement';

const binaryOperators: Readonly<Record<string, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};
const binaryOperatorNames = 'in, notin, =, ==, !=, gt, lt';

/**
 * Parses `a=b,c in (d,e),!f,g>1`; throws an Error with upstream's text.
 * Source: k8s.io/apimachinery/pkg/labels.Parser.
 */
export class LabelSelectorParser {
  private readonly tokens: Token[];
  private position = 0;

  constructor(text: string) {
    this.tokens = tokenize(text);
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const token = this.peek();
      if (token.kind === 'end') return requirements;
      if (token.kind !== 'identifier' && token.text !== '!') {
        throw new Error(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.requirementOrExplain());
      const next = this.take();
      if (next.kind === 'end') return requirements;
      if (next.text !== ',') throw new Error(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.peek();
      if (after.kind !== 'identifier' && after.text !== '!') {
        throw new Error(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  private requirementOrExplain(): Requirement {
    try {
      return this.requirement();
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new Error(`unable to parse requirement: ${detail}`, { cause: error });
    }
  }

  private requirement(): Requirement {
    const negated = this.peek().text === '!';
    if (negated) this.take();
    const { kind, text: key } = this.take();
    if (kind !== 'identifier') throw new Error(`found '${key}', expected: identifier`);
    const problems = keyErrors(key);
    if (problems.length > 0) throw new Error(aggregate(problems));
    if (negated) return newRequirement(key, '!', []);
    const next = this.peek();
    if (next.kind === 'end' || next.text === ',') return newRequirement(key, 'exists', []);
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.values() : this.exactValue();
    return newRequirement(key, operator, [...new Set(values)].sort());
  }

  private operator(): LabelOperator {
    const { text } = this.take();
    const operator = Object.hasOwn(binaryOperators, text) ? binaryOperators[text] : undefined;
    if (!operator) throw new Error(`found '${text}', expected: ${binaryOperatorNames}`);
    return operator;
  }

  private values(): string[] {
    const open = this.take();
    if (open.text !== '(') throw new Error(`found '${open.text}' expected: '('`);
    const first = this.peek();
    if (first.text === ')') {
      this.take();
      return [''];
    }
    if (first.kind !== 'identifier' && first.text !== ',') {
      throw new Error(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.identifiers();
    this.take();
    return values;
  }

  /** Identifiers up to the closing parenthesis; nothing between two commas is the empty string. */
  private identifiers(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.take();
      if (token.kind === 'identifier') {
        values.push(token.text);
        const next = this.peek();
        if (next.text === ')') return values;
        if (next.text !== ',') throw new Error(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.text === ',') {
        if (values.length === 0) values.push('');
        const next = this.peek();
        if (next.text === ')') return [...values, ''];
        if (next.text === ',') {
          this.take();
          values.push('');
        }
      } else {
        throw new Error(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }

  private exactValue(): string[] {
    const next = this.peek();
    if (next.kind === 'end' || next.text === ',') return [''];
    const token = this.take();
    if (token.kind !== 'identifier') throw new Error(`found '${token.text}', expected: identifier`);
    return [token.text];
  }

  private peek(): Token {
    return this.tokens[this.position] ?? { kind: 'end', text: '' };
  }

  private take(): Token {
    const token = this.peek();
    this.position += 1;
    return token;
  }
}
