import { canBePlain, scalarStyle, type ScalarContext } from './go-yaml-scalars';

/** Lines are folded at the first space beyond this column. */
const bestWidth = 80;
/** Longer keys are written as `? key`. */
const longestSimpleKey = 128;

/** YAML byte for byte as the API server writes it: sigs.k8s.io/yaml's JSONToYAML, which is go-yaml v2. */
export function goYaml(value: unknown): string {
  const emitter = new Emitter();
  emitter.root(value);
  return emitter.text;
}

class Emitter {
  private out = '';
  private column = 0;

  get text(): string {
    return `${this.out}\n`;
  }

  root(value: unknown): void {
    if (isFilledArray(value)) this.sequence(value, 0);
    else if (isFilledObject(value)) this.mapping(value, 0);
    else this.scalar(value, 0, 'value');
  }

  private write(text: string): void {
    this.out += text;
    this.column += text.length;
  }

  private line(indent: number): void {
    this.out += `\n${' '.repeat(indent)}`;
    this.column = indent;
  }

  private mapping(object: Readonly<Record<string, unknown>>, indent: number): void {
    const keys = Object.keys(object)
      .filter((key) => object[key] !== undefined)
      .sort(compareKeys);
    for (const [i, key] of keys.entries()) {
      if (i > 0) this.line(indent);
      const isSimple = key.length <= longestSimpleKey;
      if (!isSimple) this.write('? ');
      this.scalar(key, indent, isSimple ? 'key' : 'value');
      if (!isSimple) this.line(indent);
      this.write(':');
      this.member(object[key], indent);
    }
  }

  private member(value: unknown, indent: number): void {
    if (isFilledArray(value)) {
      this.line(indent);
      this.sequence(value, indent);
    } else if (isFilledObject(value)) {
      this.line(indent + 2);
      this.mapping(value, indent + 2);
    } else {
      this.write(' ');
      this.scalar(value, indent, 'value');
    }
  }

  private sequence(items: readonly unknown[], indent: number): void {
    for (const [i, item] of items.entries()) {
      if (i > 0) this.line(indent);
      this.write('- ');
      if (isFilledArray(item)) this.sequence(item, indent + 2);
      else if (isFilledObject(item)) this.mapping(item, indent + 2);
      else this.scalar(item, indent, 'value');
    }
  }

  private scalar(value: unknown, indent: number, context: ScalarContext): void {
    if (typeof value !== 'string') {
      this.write(Array.isArray(value) ? '[]' : typeof value === 'object' && value ? '{}' : String(value));
      return;
    }
    // What continues on another line is indented below its key or dash.
    const below = indent + 2;
    const folds = context === 'value';
    switch (scalarStyle(value, context)) {
      case 'plain':
        this.folded(value, below, { folds, quote: '' });
        break;
      case 'single':
        this.folded(value, below, { folds, quote: "'" });
        break;
      case 'double':
        this.doubleQuoted(value, below, folds);
        break;
      case 'literal':
        this.literal(value, below);
        break;
    }
  }

  private folded(value: string, indent: number, { folds, quote }: { folds: boolean; quote: string }): void {
    this.write(quote);
    let wasSpace = false;
    for (let i = 0; i < value.length; i++) {
      const char = value.charAt(i);
      if (char === ' ') {
        const isInside = quote === '' || (i > 0 && i < value.length - 1);
        const isFold = folds && !wasSpace && this.column > bestWidth && isInside && value[i + 1] !== ' ';
        if (isFold) this.line(indent);
        else this.write(char);
        wasSpace = true;
      } else {
        this.write(quote && char === quote ? quote + quote : char);
        wasSpace = false;
      }
    }
    this.write(quote);
  }

  private doubleQuoted(value: string, indent: number, folds: boolean): void {
    this.write('"');
    let wasSpace = false;
    for (let i = 0; i < value.length; i++) {
      const char = String.fromCodePoint(value.codePointAt(i) ?? 0);
      if (char !== ' ') {
        i += char.length - 1;
        this.write(escaped(char));
        wasSpace = false;
        continue;
      }
      const isInside = i > 0 && i < value.length - 1;
      if (folds && !wasSpace && this.column > bestWidth && isInside) {
        this.line(indent);
        if (value[i + 1] === ' ') this.write('\\');
      } else this.write(char);
      wasSpace = true;
    }
    this.write('"');
  }

  private literal(value: string, indent: number): void {
    const hint = /^[ \n]/.test(value) ? '2' : '';
    const chomp = !value.endsWith('\n') ? '-' : /(?:^|\n)\n$/.test(value) ? '+' : '';
    this.write(`|${hint}${chomp}`);
    const lines = value.replace(/\n$/, '').split('\n');
    for (const text of lines) {
      this.line(text === '' ? 0 : indent);
      this.write(text);
    }
  }
}

const isFilledArray = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0;

const isFilledObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).some((member) => member !== undefined);

const escapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escaped(char: string): string {
  const known = escapes[char];
  if (known) return known;
  if (canBePlain(char)) return char;
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase();
  if (code.length > 4) return `\\U${code.padStart(8, '0')}`;
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
}

const isLetter = (char: string): boolean => /\p{L}/u.test(char);
const isDigit = (char: string | undefined): boolean => char !== undefined && /\d/.test(char);

/** Natural order: numbers within keys count as numbers, letters come after all else. Source: go-yaml v2 sorter.go. */
function compareKeys(a: string, b: string): number {
  let afterDigit = false;
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a.charAt(i), b.charAt(i)];
    if (x === y) {
      afterDigit = isDigit(x);
      continue;
    }
    const [xLetter, yLetter] = [isLetter(x), isLetter(y)];
    if (xLetter && yLetter) return x < y ? -1 : 1;
    if (xLetter || yLetter) return (afterDigit ? xLetter : yLetter) ? -1 : 1;
    return compareNumbersAt(a, b, i) || (x < y ? -1 : 1);
  }
  return a.length - b.length;
}

function compareNumbersAt(a: string, b: string, at: number): number {
  const digitsOf = (text: string) => /^\d*/.exec(text.slice(at))?.[0] ?? '';
  const [x, y] = [digitsOf(a), digitsOf(b)];
  // Zeros after other digits belong to a larger number.
  const before = /[1-9]\d*$/.test(a.slice(0, at)) && (x.startsWith('0') || y.startsWith('0')) ? '1' : '';
  return Number(before + x) - Number(before + y) || x.length - y.length;
}
