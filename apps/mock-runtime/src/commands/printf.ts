import type { Process } from '../kernel/process';
import { toBytes } from './bytes';
import { unescape } from './escapes';

export async function printf(process: Process, argv: readonly string[] = process.argv): Promise<number> {
  if (argv.length < 2) {
    await process.complain('printf: usage: printf format [arguments]\n');
    return 2;
  }
  const { text, invalid } = formatPrintf(argv.slice(1));
  await process.print(toBytes(text));
  if (invalid !== undefined) await process.complain(`printf: ${invalid}: invalid number\n`);
  return invalid === undefined ? 0 : 1;
}

/** The format is used again until all arguments are consumed. */
export function formatPrintf([format = '', ...args]: readonly string[]): { text: string; invalid?: string } {
  let text = '';
  let invalid: string | undefined;
  let index = 0;
  const number = (arg: string): number => {
    if (/^['"]/.test(arg)) return arg.codePointAt(1) ?? 0;
    const value = arg === '' ? 0 : Number(arg);
    if (Number.isNaN(value)) invalid = arg;
    return Number.isNaN(value) ? 0 : value;
  };
  do {
    const before = index;
    for (const part of format.match(/%[-+ 0#]*(?:\*|\d+)?(?:\.\d+)?[a-zA-Z%]|(?:\\[\s\S]|[^%\\])+|%/g) ??
      []) {
      const match = /^%([-+ 0#]*)(\*|\d+)?(?:\.(\d+))?([a-zA-Z%])$/.exec(part);
      if (!match) {
        text += unescape(part).value;
        continue;
      }
      const [, flags = '', width, precision, conversion = ''] = match;
      if (conversion === '%') {
        text += '%';
        continue;
      }
      const size = width === '*' ? Number(args[index++] ?? 0) : Number(width ?? 0);
      const arg = args[index++] ?? '';
      text += pad(convert(conversion, arg, { flags, precision, number }), size, flags, conversion);
    }
    if (index === before) break;
  } while (index < args.length);
  return { text, invalid };
}

interface Conversion {
  flags: string;
  precision: string | undefined;
  number(arg: string): number;
}

function convert(conversion: string, arg: string, { flags, precision, number }: Conversion): string {
  const sign = (value: number, text: string) => (value >= 0 && flags.includes('+') ? `+${text}` : text);
  switch (conversion) {
    case 's':
      return precision === undefined ? arg : arg.slice(0, Number(precision));
    case 'b':
      return unescape(arg).value;
    case 'q':
      return /^[\w./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`;
    case 'c':
      return arg.slice(0, 1);
    case 'd':
    case 'i': {
      const value = Math.trunc(number(arg));
      return sign(value, String(value));
    }
    case 'u':
      return String(Math.trunc(number(arg)));
    case 'x':
      return Math.trunc(number(arg)).toString(16);
    case 'X':
      return Math.trunc(number(arg)).toString(16).toUpperCase();
    case 'o':
      return Math.trunc(number(arg)).toString(8);
    case 'f':
    case 'F': {
      const value = number(arg);
      return sign(value, value.toFixed(Number(precision ?? 6)));
    }
    case 'e':
      return number(arg)
        .toExponential(Number(precision ?? 6))
        .replace(/e([-+])(\d)$/, 'e$10$2');
    case 'g':
      return String(Number(number(arg).toPrecision(Number(precision ?? 6))));
    default:
      return arg;
  }
}

function pad(text: string, size: number, flags: string, conversion: string): string {
  if (text.length >= size) return text;
  if (flags.includes('-')) return text.padEnd(size);
  if (!flags.includes('0') || conversion === 's') return text.padStart(size);
  const sign = /^[+-]/.test(text) ? text.slice(0, 1) : '';
  return sign + text.slice(sign.length).padStart(size - sign.length, '0');
}
