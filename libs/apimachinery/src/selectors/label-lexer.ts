/** Tokens of label selectors. `in`, `notin` are identifiers where a value may stand. */
export interface Token {
  readonly kind: 'identifier' | 'end' | 'error' | 'symbol';
  readonly text: string;
}

const symbols = new Set(['(', ')', ',', '!', '=', '==', '!=', '>', '<']);
const isSpecial = (char: string): boolean => '=!(),><'.includes(char);
const isSpace = (char: string): boolean => ' \t\r\n'.includes(char);

/** Source: k8s.io/apimachinery/pkg/labels.Lexer. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    const char = text.charAt(position);
    if (isSpace(char)) {
      position += 1;
    } else if (isSpecial(char)) {
      const symbol = longestSymbol(text, position);
      tokens.push({ kind: 'symbol', text: symbol });
      position += symbol.length;
    } else {
      let end = position;
      while (end < text.length && !isSpecial(text.charAt(end)) && !isSpace(text.charAt(end))) end += 1;
      tokens.push({ kind: 'identifier', text: text.slice(position, end) });
      position = end;
    }
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

function longestSymbol(text: string, start: number): string {
  const two = text.slice(start, start + 2);
  return symbols.has(two) ? two : text.charAt(start);
}
