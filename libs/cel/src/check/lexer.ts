/** A word of an expression. */
export interface Token {
  readonly kind: 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'name' | 'symbol' | 'end';
  /** As it is written; of a text, what it says. */
  readonly text: string;
  /** Code points before it. */
  readonly position: number;
}

/** The expression can't be read; what is wrong with it others say better. */
export class UnreadableExpression extends Error {
  override readonly name = 'UnreadableExpression';
}

const patterns: readonly (readonly [Token['kind'] | 'space', RegExp])[] = [
  ['space', /(?:\s+|\/\/[^\n]*)/y],
  ['double', /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y],
  ['uint', /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ['int', /(?:0x[0-9a-fA-F]+|\d+)/y],
  [
    'string',
    /(?:[bB][rR]?|[rR][bB]?)?(?:"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*')/y,
  ],
  ['name', /[A-Za-z_]\w*/y],
  ['name', /`[A-Za-z0-9_.\-/ ]+`/y],
  ['symbol', /(?:&&|\|\||==|!=|<=|>=|[[\]{}().,?:+\-*/%!<>])/y],
];

/** Cuts an expression into words; throws UnreadableExpression. */
export function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  let position = 0;
  while (offset < expression.length) {
    const [kind, text] = wordAt(expression, offset);
    if (kind !== 'space') tokens.push(tokenOf(kind, text, position));
    offset += text.length;
    position += [...text].length;
  }
  return [...tokens, { kind: 'end', text: '', position }];
}

function wordAt(expression: string, offset: number): [Token['kind'] | 'space', string] {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = offset;
    const [text] = pattern.exec(expression) ?? [];
    if (text !== undefined) return [kind, text];
  }
  throw new UnreadableExpression(`nothing begins with ${expression.charAt(offset)}`);
}

function tokenOf(kind: Token['kind'], text: string, position: number): Token {
  if (kind !== 'string') return { kind, text, position };
  const [, prefix = '', quoted = ''] = /^([bBrR]*)([\s\S]*)$/.exec(text) ?? [];
  const quotes = /^("""|''')/.test(quoted) ? 3 : 1;
  const inner = quoted.slice(quotes, -quotes);
  const isRaw = /r/i.test(prefix);
  return { kind: /b/i.test(prefix) ? 'bytes' : 'string', text: isRaw ? inner : unescaped(inner), position };
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const unescaped = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]))/g,
    (_, x?: string, u?: string, long?: string, octal?: string, char?: string) => {
      const hex = x ?? u ?? long;
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      return char === undefined ? '' : (escapes[char] ?? char);
    },
  );
