import { isObject } from '@tinkernetes/apimachinery';
/** Text that is not JSON; the message is worded as Go's encoding/json words it. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

export interface ParsedJson {
  value: unknown;
  /** Paths of keys that occur twice in one object, e.g. `data.a`. */
  duplicates: string[];
  /** Of YAML: what go-yaml's strict decoder says of each key that occurs twice in one map. */
  duplicateLines?: string[];
  /** Whether something lay deeper than `maxDepth`: `hasCuts` says where a value still has its place. */
  isCut?: boolean;
}

/**
 * How many objects and arrays in each other are kept. Every level takes stack in each step that follows, and V8 ends the
 * whole process when a regular expression has to be compiled where little stack is left.
 */
export const maxDepth = 500;

/** How many there may be: what lies deeper than `maxDepth` is read, and cut off. As in Go's encoding/json. */
const goDepth = 10_000;

const cutMark = '\u0000cut';
const cuts = { '{': () => ({ [cutMark]: true }), '[': () => [cutMark] } as const;

/** Whether part of a value was cut off because it lay too deep. */
export function hasCuts(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => item === cutMark || hasCuts(item));
  return isObject(value) && (Object.hasOwn(value, cutMark) || Object.values(value).some(hasCuts));
}

/**
 * Parses JSON. Compact text without duplicate keys, which is what clients send, takes only V8's own parser; anything
 * else is read by a parser that reports duplicates, merges them as Go's decoder does, and words errors as it does.
 */
export function parseJson(text: string): ParsedJson {
  const fast = isDeep(text) || hasSurrogates(text) ? undefined : fastParse(text);
  return fast ? { value: fast.value, duplicates: [] } : new Reader(text).document();
}

/** Whether the text's brackets go deeper than `maxDepth`; of what is no JSON it may say anything. */
function isDeep(text: string): boolean {
  if (text.length < 2 * maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBracket || code === openBrace) {
      if (++depth > maxDepth) return true;
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return false;
}

/** Whether halves of characters are written as escapes: V8 takes one without the other, where Go replaces it. */
export const hasSurrogates = (text: string): boolean => /\\u[dD][89a-fA-F]/.test(text);

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [34, 92, 91, 93, 123, 125];

/** Where the string that begins at `start` ends; the end of the text when it doesn't. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

function fastParse(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value).length === text.length ? { value } : undefined;
  } catch (error) {
    // The careful parser finds the same fault and words it as Go does.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const escapes: Record<string, string> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  '/': '/',
};

class Reader {
  private at = 0;
  private isCut = false;
  private readonly duplicates: string[] = [];

  constructor(private readonly text: string) {}

  document(): ParsedJson {
    this.space();
    const value = this.value('', 'looking for beginning of value', 0);
    this.space();
    if (this.at < this.text.length) throw this.invalid('after top-level value');
    return { value, duplicates: this.duplicates, ...(this.isCut ? { isCut: true } : undefined) };
  }

  invalid(context: string): JsonSyntaxError {
    const char = this.text[this.at];
    if (char === undefined) return new JsonSyntaxError('unexpected end of JSON input');
    return new JsonSyntaxError(`invalid character ${quoteChar(char)} ${context}`);
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  private value(path: string, context: string, depth: number): unknown {
    const char = this.text[this.at];
    if (depth >= maxDepth && (char === '{' || char === '[')) {
      this.passOver(depth);
      return cuts[char]();
    }
    switch (char) {
      case '{':
        return this.object(path, depth + 1);
      case '[':
        return this.array(path, depth + 1);
      default:
        return this.scalar(context);
    }
  }

  /** Reads an object or array without keeping it, and without taking stack for what is in it. */
  private passOver(depth: number): void {
    this.isCut = true;
    const open: string[] = [];
    do {
      const char = this.text[this.at];
      if (char === '{' || char === '[') {
        if (depth + open.length >= goDepth) throw this.invalid('exceeded max depth');
        open.push(char === '{' ? '}' : ']');
        this.at++;
        this.space();
        if (this.text[this.at] !== open.at(-1)) {
          if (char === '{') this.key();
          continue;
        }
      } else this.scalar('looking for beginning of value');
      this.passEnds(open);
    } while (open.length > 0);
  }

  /** From the end of a value, or an empty one's closing bracket, to where the next one begins. */
  private passEnds(open: string[]): void {
    for (let close = open.at(-1); close !== undefined; close = open.at(-1)) {
      this.space();
      const next = this.text[this.at];
      if (next !== ',' && next !== close)
        throw this.invalid(close === '}' ? 'after object key:value pair' : 'after array element');
      this.at++;
      if (next === ',') {
        this.space();
        if (close === '}') this.key();
        return;
      }
      open.pop();
    }
  }

  private scalar(context: string): unknown {
    const char = this.text[this.at];
    switch (char) {
      case '"':
        return this.string();
      case 't':
        return this.literal('true', true);
      case 'f':
        return this.literal('false', false);
      case 'n':
        return this.literal('null', null);
      default:
        if (char !== undefined && /[-0-9]/.test(char)) return this.number();
        throw this.invalid(context);
    }
  }

  /** A member's name, up to where its value begins. */
  private key(): string {
    if (this.text[this.at] !== '"') throw this.invalid('looking for beginning of object key string');
    const key = this.string();
    this.space();
    if (this.text[this.at] !== ':') throw this.invalid('after object key');
    this.at++;
    this.space();
    return key;
  }

  private object(path: string, depth: number): Record<string, unknown> {
    this.at++;
    const out: Record<string, unknown> = {};
    this.space();
    if (this.text[this.at] === '}') {
      this.at++;
      return out;
    }
    for (;;) {
      this.space();
      const key = this.key();
      const place = path ? `${path}.${key}` : key;
      const value = this.value(place, 'looking for beginning of value', depth);
      this.put(out, key, value, place);
      this.space();
      const next = this.text[this.at];
      if (next !== ',' && next !== '}') throw this.invalid('after object key:value pair');
      this.at++;
      if (next === '}') return out;
    }
  }

  private put(out: Record<string, unknown>, key: string, value: unknown, place: string): void {
    let kept = value;
    if (Object.hasOwn(out, key)) {
      this.duplicates.push(place);
      const before = out[key];
      if (isObject(before) && isObject(value)) kept = mergeRecords(before, value);
    }
    if (key === '__proto__') {
      Object.defineProperty(out, key, { value: kept, enumerable: true, configurable: true, writable: true });
    } else out[key] = kept;
  }

  private array(path: string, depth: number): unknown[] {
    this.at++;
    const out: unknown[] = [];
    this.space();
    if (this.text[this.at] === ']') {
      this.at++;
      return out;
    }
    for (;;) {
      this.space();
      out.push(this.value(`${path}[${out.length}]`, 'looking for beginning of value', depth));
      this.space();
      const next = this.text[this.at];
      if (next !== ',' && next !== ']') throw this.invalid('after array element');
      this.at++;
      if (next === ']') return out;
    }
  }

  private string(): string {
    const start = ++this.at;
    let out = '';
    let from = start;
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined) throw this.invalid('');
      if (char === '"') {
        out += this.text.slice(from, this.at++);
        return wellFormed(out);
      }
      if (char < ' ') throw this.invalid('in string literal');
      if (char === '\\') {
        out += this.text.slice(from, this.at++) + this.escape();
        from = this.at;
      } else this.at++;
    }
  }

  private escape(): string {
    const char = this.text[this.at];
    if (char === 'u') {
      for (let i = 1; i <= 4; i++) {
        const digit = this.text[this.at + i];
        if (digit === undefined || !/[0-9a-fA-F]/.test(digit)) {
          this.at += i;
          throw this.invalid('in \\u hexadecimal character escape');
        }
      }
      const code = parseInt(this.text.slice(this.at + 1, this.at + 5), 16);
      this.at += 5;
      return String.fromCharCode(code);
    }
    const plain = char === undefined ? undefined : escapes[char];
    if (plain === undefined) throw this.invalid('in string escape code');
    this.at++;
    return plain;
  }

  private literal<T>(word: string, value: T): T {
    for (let i = 0; i < word.length; i++, this.at++) {
      if (this.text[this.at] !== word[i]) {
        throw this.invalid(`in literal ${word} (expecting ${quoteChar(word[i] ?? '')})`);
      }
    }
    return value;
  }

  private number(): number {
    const match = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/.exec(this.text.slice(this.at, this.at + 400));
    if (!match) {
      this.at++;
      throw this.invalid('in numeric literal');
    }
    this.at += match[0].length;
    return Number(match[0]);
  }
}

/** The text with U+FFFD for each half of a character, as Go's decoder leaves it: nobody can write these as UTF-8. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** What Go's decoder leaves when the same object comes twice: both contents. */
function mergeRecords(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const out = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = out[key];
    out[key] = isObject(before) && isObject(value) ? mergeRecords(before, value) : value;
  }
  return out;
}

/** As strconv.Quote would write it between single quotes. */
export function quoteChar(char: string): string {
  if (char === "'") return `'\\''`;
  if (char === '"') return `'"'`;
  const escape = escapesOfGo[char];
  if (escape) return `'${escape}'`;
  const code = firstByte(char);
  if (code < 32 || code === 127) return `'\\x${code.toString(16).padStart(2, '0')}'`;
  return `'${String.fromCharCode(code)}'`;
}

const escapesOfGo: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Go reads bytes: of a longer character it names the first, as if that were one. */
function firstByte(char: string): number {
  const code = char.charCodeAt(0);
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code >= 0xd800 && code < 0xe000 ? 0xf0 : 0xe0 | (code >> 12);
}
