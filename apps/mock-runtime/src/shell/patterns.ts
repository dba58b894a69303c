import { posix } from 'node:path';
import type { FileSystem } from '../files/file-system';

/** A piece of an expanded word: what was quoted is taken literally. */
export interface Piece {
  text: string;
  quoted: boolean;
}

const special = /[\\^$.*+?()[\]{}|]/g;
const classes: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  blank: ' \\t',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  space: '\\s',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
};

/** A shell pattern as the source of a regular expression. */
export function patternSource(pieces: readonly Piece[], { path = false, lazy = false } = {}): string {
  const any = path ? '[^/]' : '[\\s\\S]';
  return pieces
    .map(({ text, quoted }) => {
      if (quoted) return text.replace(special, '\\$&');
      let source = '';
      for (let i = 0; i < text.length; i++) {
        const c = text[i] ?? '';
        if (c === '*') source += `${any}*${lazy ? '?' : ''}`;
        else if (c === '?') source += any;
        else if (c === '\\') source += (text[++i] ?? '\\').replace(special, '\\$&');
        else if (c === '[') {
          const end = closingBracket(text, i);
          if (end < 0) {
            source += '\\[';
            continue;
          }
          source += bracket(text.slice(i + 1, end));
          i = end;
        } else source += c.replace(special, '\\$&');
      }
      return source;
    })
    .join('');
}

export const patternRegExp = (pieces: readonly Piece[]): RegExp => new RegExp(`^${patternSource(pieces)}$`);

function closingBracket(text: string, start: number): number {
  let i = start + 1;
  if (text[i] === '!' || text[i] === '^') i++;
  if (text[i] === ']') i++;
  while (i < text.length && text[i] !== ']') {
    if (text[i] === '[' && text[i + 1] === ':') i = text.indexOf(':]', i) + 1;
    i++;
  }
  return i < text.length ? i : -1;
}

function bracket(inside: string): string {
  const negated = /^[!^]/.test(inside);
  const set = (negated ? inside.slice(1) : inside)
    .replace(/\[:(\w+):\]/g, (_, name: string) => classes[name] ?? '')
    .replace(/\\(?![sdw\\\]\-/[])/g, '\\\\')
    .replace(/^\]/, '\\]')
    .replace(/\[/g, '\\[');
  return `[${negated ? '^' : ''}${set}]`;
}

/** A bracket alone is none: `[` is a command that scripts call often. */
export function hasPattern(pieces: readonly Piece[]): boolean {
  if (!pieces.some(({ text, quoted }) => !quoted && /[*?[]/.test(text))) return false;
  const open = pieces.map(({ text, quoted }) => (quoted ? '' : text)).join('');
  return /[*?]|\[.*\]/.test(open) || (open.includes('[') && pieces.some(({ quoted }) => quoted));
}

/** The existing paths that match, sorted; empty when none does. */
export function glob(
  pieces: readonly Piece[],
  { fs, cwd, dotglob = false }: { fs: FileSystem; cwd: string; dotglob?: boolean },
): string[] {
  const components = splitPath(pieces);
  const onlyDirectories = pieces.at(-1)?.text.endsWith('/') ?? false;
  const absolute = pieces[0]?.text.startsWith('/') ?? false;
  let found = [absolute ? '/' : ''];
  for (const component of components) {
    const next: string[] = [];
    const literal = component.map((piece) => piece.text).join('');
    for (const base of found) {
      const dir = posix.resolve(cwd, base || '.');
      if (!hasPattern(component)) {
        if (fs.exists(posix.join(dir, literal))) next.push(posix.join(base, literal));
        continue;
      }
      if (!fs.isDirectory(dir)) continue;
      const matcher = new RegExp(`^${patternSource(component, { path: true })}$`);
      for (const name of fs.readdir(dir)) {
        if (name.startsWith('.') && !literal.startsWith('.') && !dotglob) continue;
        if (matcher.test(name)) next.push(posix.join(base, name));
      }
    }
    found = next;
  }
  if (onlyDirectories)
    found = found.filter((path) => fs.isDirectory(posix.resolve(cwd, path))).map((path) => `${path}/`);
  return found.sort();
}

function splitPath(pieces: readonly Piece[]): Piece[][] {
  const components: Piece[][] = [[]];
  for (const { text, quoted } of pieces) {
    text.split('/').forEach((part, index) => {
      if (index > 0) components.push([]);
      if (part !== '') components.at(-1)?.push({ text: part, quoted });
    });
  }
  return components.filter((component) => component.length > 0);
}
