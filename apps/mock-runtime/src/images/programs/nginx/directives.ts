import { posix } from 'node:path';
import { FileError } from '../../../files/file-error';
import type { FileSystem } from '../../../files/file-system';
import { patternRegExp } from '../../../shell/patterns';
import { checkDirective } from './known-directives';

/** One directive of a configuration, with the block that some have. */
export interface Directive {
  name: string;
  args: string[];
  block?: Directive[];
  /** Where it stands: `/etc/nginx/nginx.conf:3`. */
  place: string;
}

/** What `nginx: [emerg] …` says. */
export class NginxConfigError extends Error {
  override readonly name = 'NginxConfigError';
}

interface Token {
  text: string;
  line: number;
  isQuoted: boolean;
}

/** A configuration file with all that it includes. Throws NginxConfigError. */
export function loadDirectives(fs: FileSystem, path: string): Directive[] {
  return new Reader(fs, path).file(path, undefined, '');
}

class Reader {
  constructor(
    private readonly fs: FileSystem,
    private readonly main: string,
  ) {}

  /** The directives of a file, which stand in the block `context` of another (`` for none). */
  file(path: string, includedAt: string | undefined, context: string): Directive[] {
    let text: string;
    try {
      text = this.fs.readFile(path).toString();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const where = includedAt === undefined ? '' : ` in ${includedAt}`;
      throw new NginxConfigError(
        `open() "${path}" failed (${error.code === 'EACCES' ? 13 : 2}: ${error.message})${where}`,
      );
    }
    const tokens = tokensOf(text, path);
    const cursor = { at: 0, path, lastLine: text.split('\n').length };
    return this.block(tokens, cursor, { context, isNested: false });
  }

  private block(
    tokens: readonly Token[],
    cursor: { at: number; path: string; lastLine: number },
    { context, isNested }: { context: string; isNested: boolean },
  ): Directive[] {
    const directives: Directive[] = [];
    let words: Token[] = [];
    for (;;) {
      const token = tokens[cursor.at++];
      if (!token) {
        const missing = words.length > 0 ? '";" or "}"' : '"}"';
        if (!isNested && words.length === 0) return directives;
        throw new NginxConfigError(
          `unexpected end of file, expecting ${missing} in ${cursor.path}:${cursor.lastLine}`,
        );
      }
      const place = `${cursor.path}:${token.line}`;
      const isPunctuation = !token.isQuoted && /^[{};]$/.test(token.text);
      if (!isPunctuation) {
        words.push(token);
        continue;
      }
      if (token.text === '}' && isNested && words.length === 0) return directives;
      const [first, ...rest] = words;
      if (token.text === '}' || !first) throw new NginxConfigError(`unexpected "${token.text}" in ${place}`);
      words = [];
      const directive: Directive = { name: first.text, args: rest.map(({ text }) => text), place };
      const opens = token.text === '{';
      if (!isTable(context)) checkDirective(directive, { context, opens });
      if (opens) directive.block = this.block(tokens, cursor, { context: directive.name, isNested: true });
      if (directive.name === 'include' && !opens) directives.push(...this.included(directive, context));
      else directives.push(directive);
    }
  }

  private included({ args: [pattern = ''], place }: Directive, context: string): Directive[] {
    const path = posix.resolve(posix.dirname(this.main), pattern);
    if (!/[*?[]/.test(path)) return this.file(path, place, context);
    const folder = posix.dirname(path);
    if (!this.fs.isDirectory(folder)) return [];
    const matches = patternRegExp([{ text: posix.basename(path), quoted: false }]);
    return this.fs
      .readdir(folder)
      .filter((name) => matches.test(name))
      .sort()
      .flatMap((name) => this.file(posix.join(folder, name), place, context));
  }
}

/** Blocks whose lines are values and no directives. */
const isTable = (context: string): boolean => ['map', 'geo', 'types', 'split_clients'].includes(context);

/** Words, and `{`, `}` and `;` as words of their own. A comment goes to the end of its line. */
function tokensOf(text: string, path: string): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /\s+|#[^\n]*|"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|[{};]|(?:\$\{\w+\}|\\[\s\S]|[^\s{};"'])(?:\$\{\w+\}|\\[\s\S]|[^\s{};])*|["']/g;
  let line = 1;
  for (const match of text.matchAll(pattern)) {
    const [whole, double, single] = match;
    const quoted = double ?? single;
    if (whole === '"' || whole === "'")
      throw new NginxConfigError(
        `unexpected end of file, expecting ";" or "}" in ${path}:${text.split('\n').length}`,
      );
    if (quoted !== undefined) tokens.push({ text: unescape(quoted), line, isQuoted: true });
    else if (!/^[\s#]/.test(whole)) tokens.push({ text: whole, line, isQuoted: false });
    line += whole.split('\n').length - 1;
  }
  return tokens;
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  "'": "'",
  '\\': '\\',
};

const unescape = (text: string): string =>
  text.replace(/\\([\s\S])/g, (whole, letter: string) => escapes[letter] ?? whole);
