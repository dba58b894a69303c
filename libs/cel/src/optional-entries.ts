import { tokensOf, UnreadableExpression, type Token } from './check/lexer';
import { entryNames } from './library/optionals';

/**
 * The library's parser knows no literals with optional parts: `[?a, b]` becomes `listOfEntries([optionalEntry(a), b])`,
 * `{?k: v}` becomes `mapOfEntries({k: optionalEntry(v)})`.
 */
export function withoutOptionalEntries(expression: string): string {
  if (!/[[{,]\s*\?/.test(expression)) return expression;
  try {
    return rewritten(expression);
  } catch (error) {
    // What can't be read the library's parser describes.
    if (error instanceof UnreadableExpression) return expression;
    throw error;
  }
}

/** A bracket that is open. */
interface Open {
  readonly kind: 'list' | 'map' | 'other';
  /** Of the bracket itself. */
  readonly position: number;
  hasOptional: boolean;
  /** The part that begins here is optional. */
  isOptional: boolean;
  /** Conditions whose `:` is still to come. */
  conditions: number;
}

function rewritten(expression: string): string {
  const points = [...expression];
  const insertions = new Map<number, string>();
  const insert = (at: number, text: string) => insertions.set(at, (insertions.get(at) ?? '') + text);
  const open: Open[] = [];
  const endPart = (part: Open | undefined, at: number) => {
    if (!part?.isOptional) return;
    insert(at, ')');
    part.isOptional = false;
  };
  const tokens = tokensOf(expression);
  tokens.forEach((token, i) => {
    if (token.kind !== 'symbol') return;
    const inner = open.at(-1);
    const { text, position } = token;
    if ('([{'.includes(text)) open.push(opened(token, tokens[i - 1]));
    else if (')]}'.includes(text)) {
      endPart(inner, position);
      const closed = open.pop();
      if (!closed?.hasOptional || closed.kind === 'other') return;
      // What is opened here comes before what is opened within.
      insertions.set(closed.position, `${entryNames[closed.kind]}(${insertions.get(closed.position) ?? ''}`);
      insert(position + 1, ')');
    } else if (text === ',') endPart(inner, position);
    else if (text === '?' && inner) {
      if (!beginsPart(inner, tokens[i - 1])) {
        // `a.?b` and `a[?b]` are no conditions.
        if (!['.', '['].includes(tokens[i - 1]?.text ?? '')) inner.conditions++;
        return;
      }
      inner.hasOptional = true;
      inner.isOptional = true;
      points[position] = '';
      if (inner.kind === 'list') insert(position, `${entryNames.entry}(`);
    } else if (text === ':' && inner) {
      if (inner.conditions > 0) inner.conditions--;
      else if (inner.isOptional) insert(position + 1, `${entryNames.entry}(`);
    }
  });
  return [...points, ''].map((point, i) => (insertions.get(i) ?? '') + point).join('');
}

function opened({ text, position }: Token, before: Token | undefined): Open {
  const kind = text === '[' && !isOperand(before) ? 'list' : text === '{' ? 'map' : 'other';
  return { kind, position, hasOptional: false, isOptional: false, conditions: 0 };
}

const beginsPart = ({ kind }: Open, before: Token | undefined): boolean =>
  kind !== 'other' && before?.kind === 'symbol' && ['[', '{', ','].includes(before.text);

/** After an operand, a bracket is an index. */
function isOperand(token: Token | undefined): boolean {
  if (!token) return false;
  if (token.kind === 'symbol') return [')', ']', '}'].includes(token.text);
  return token.text !== 'in' || token.kind !== 'name';
}
