import type { Process } from '../kernel/process';
import { absolute, parseArgs } from './paths';
import { linesOf, readInputs } from './inputs';

type Compare = (a: string, b: string) => number;

interface Key {
  /** From 0; with how many characters of the field to leave out. */
  start: number;
  skip: number;
  /** The last field, or undefined: to the end of the line. */
  end: number | undefined;
  flags: ReadonlySet<string>;
}

/** `sort [-bcdfhnrsuVz] [-k KEY] [-t CHAR] [-o FILE] [file…]`, by bytes, as in the C locale of containers. */
export async function sort(process: Process): Promise<number> {
  const keyArgs: string[] = [];
  const args = process.argv.slice(1).flatMap((arg, index, all) => {
    if (all[index - 1] === '-k') return [];
    if (arg === '-k') keyArgs.push(all[index + 1] ?? '1');
    else if (/^-k./.test(arg)) keyArgs.push(arg.slice(2));
    else return [arg.replace(/^--reverse$/, '-r').replace(/^--unique$/, '-u')];
    return [];
  });
  const { flags, values, rest } = parseArgs(args, 'to');
  const separator = flags.has('z') ? '\0' : '\n';
  const { inputs, failed } = await readInputs(process, rest);
  if (failed) return 2;
  const lines = inputs.flatMap(({ data }) => linesOf(data, separator));
  const keys = keyArgs.map(parseKey);
  const compare = comparison(keys, flags, values.get('t'));
  if (flags.has('c')) {
    const at = lines.findIndex((line, index) => index > 0 && compare(lines[index - 1] ?? '', line) > 0);
    if (at < 0) return 0;
    await process.complain(`sort: -:${at + 1}: disorder: ${lines[at] ?? ''}\n`);
    return 1;
  }
  // Lines whose keys are the same come in the order of their bytes, unless asked to be left as they were.
  const reversed = flags.has('r') ? -1 : 1;
  const lastResort = (a: string, b: string) =>
    flags.has('s') || flags.has('u') ? 0 : reversed * byBytes(a, b);
  const sorted = lines.sort((a, b) => compare(a, b) || lastResort(a, b));
  const kept = flags.has('u')
    ? sorted.filter((line, index) => index === 0 || compare(sorted[index - 1] ?? '', line) !== 0)
    : sorted;
  const text = Buffer.from(kept.map((line) => line + separator).join(''), 'latin1');
  const output = values.get('o');
  if (output === undefined) await process.print(text);
  else process.fs.writeFile(absolute(process, output), text, { user: process.user });
  return 0;
}

/** `2`, `2,3`, `2.3n`, `1,1r`. */
function parseKey(text: string): Key {
  const [, field = '1', character = '1', from = '', end, to = ''] =
    /^(\d+)(?:\.(\d+))?([a-zA-Z]*)(?:,(\d+)(?:\.\d+)?([a-zA-Z]*))?/.exec(text) ?? [];
  return {
    start: Number(field) - 1,
    skip: Number(character) - 1,
    end: end === undefined ? undefined : Number(end) - 1,
    flags: new Set([...from, ...to]),
  };
}

function comparison(
  keys: readonly Key[],
  flags: ReadonlySet<string>,
  separator: string | undefined,
): Compare {
  if (keys.length === 0) return ordering(flags);
  const parts = keys.map((key) => {
    // A key with letters of its own takes none of the others'.
    const compare = ordering(key.flags.size > 0 ? key.flags : flags);
    return (a: string, b: string) => compare(fieldsOf(a, key, separator), fieldsOf(b, key, separator));
  });
  return (a, b) => {
    for (const part of parts) {
      const order = part(a, b);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** A field has the blanks before it, unless the separator is given. */
function fieldsOf(line: string, { start, skip, end, flags }: Key, separator: string | undefined): string {
  const fields = separator === undefined ? (line.match(/[ \t]*[^ \t]+/g) ?? []) : line.split(separator);
  const chosen = fields.slice(start, end === undefined ? undefined : end + 1).join(separator ?? '');
  return (flags.has('b') ? chosen.trimStart() : chosen).slice(skip);
}

function ordering(flags: ReadonlySet<string>): Compare {
  const base: Compare =
    flags.has('n') || flags.has('g')
      ? (a, b) => numberOf(a) - numberOf(b)
      : flags.has('h')
        ? (a, b) => sizeOf(a) - sizeOf(b)
        : flags.has('V')
          ? byVersion
          : byBytes;
  const shown = (text: string): string => {
    let out = flags.has('b') ? text.trimStart() : text;
    if (flags.has('d')) out = out.replace(/[^A-Za-z0-9 \t]/g, '');
    return flags.has('f') ? out.toUpperCase() : out;
  };
  const sign = flags.has('r') ? -1 : 1;
  return (a, b) => sign * base(shown(a), shown(b));
}

const byBytes: Compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const numberOf = (text: string): number => Number(/^\s*(-?\d*\.?\d*)/.exec(text)?.[1] || 0) || 0;
const suffixes = 'KMGTPE';
const sizeOf = (text: string): number =>
  numberOf(text) * 1024 ** (suffixes.indexOf((/[KMGTPE]/i.exec(text)?.[0] ?? '').toUpperCase() || ' ') + 1);

/** Runs of digits compare as numbers. */
const byVersion: Compare = (a, b) => {
  const parts = (text: string) => text.match(/\d+|\D+/g) ?? [];
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x = '', y = ''] = [left[i], right[i]];
    const order = /^\d/.test(x) && /^\d/.test(y) ? Number(x) - Number(y) : byBytes(x, y);
    if (order !== 0) return order;
  }
  return 0;
};
