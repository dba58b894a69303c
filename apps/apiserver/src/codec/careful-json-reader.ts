import { isObject } from '@tinkernetes/apimachinery';
import { JsonSyntaxError, quoteChar } from './json-syntax-error';
import { cuts, goDepth, maxDepth } from './json-depth';
import type { ParsedJson } from './parsed-json';
import { wellFormed } from './surrogates';

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

/** Reads JSON a character at a time: reports duplicate keys, merges them and words errors as Go's encoding/json does. */
export class CarefulJsonReader {
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

/** What Go's decoder leaves when the same object comes twice: both contents. */
function mergeRecords(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const out = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = out[key];
    out[key] = isObject(before) && isObject(value) ? mergeRecords(before, value) : value;
  }
  return out;
}
