import type { Process } from '../kernel/process';
import { readInputs } from './inputs';

/** How the units of one line are shown. */
interface Format {
  size: number;
  /** Of one unit, with the blanks before it. */
  show(data: Buffer, at: number): string;
  /** The characters of the line behind it. */
  hasText: boolean;
}

const kinds: Readonly<
  Record<string, { radix: number; signed: boolean; widths: Readonly<Record<number, number>> }>
> = {
  x: { radix: 16, signed: false, widths: { 1: 2, 2: 4, 4: 8, 8: 16 } },
  o: { radix: 8, signed: false, widths: { 1: 3, 2: 6, 4: 11, 8: 22 } },
  u: { radix: 10, signed: false, widths: { 1: 3, 2: 5, 4: 10, 8: 20 } },
  d: { radix: 10, signed: true, widths: { 1: 4, 2: 6, 4: 11, 8: 20 } },
};

const shorthand: Readonly<Record<string, string>> = {
  b: 'o1',
  c: 'c',
  d: 'u2',
  o: 'o2',
  s: 'd2',
  x: 'x2',
  i: 'd4',
  l: 'd8',
  a: 'a',
};
const escapes: Readonly<Record<number, string>> = {
  0: '\\0',
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
};
const names =
  'nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp'.split(
    ' ',
  );

/** `od [-A RADIX] [-t TYPE] [-N BYTES] [-j SKIP] [-w WIDTH] [-v] [-bcdosx] [FILE…]`. Source: POSIX, od. */
export async function od(process: Process): Promise<number> {
  const options = parse(process.argv.slice(1));
  const mistake = mistakeIn(options);
  if (mistake !== undefined) {
    await process.complain(`od: ${mistake}\n`);
    return 1;
  }
  const { inputs, failed } = await readInputs(process, options.files);
  const all = Buffer.concat(inputs.map(({ data }) => data));
  const data = all.subarray(options.skip, options.skip + options.count);
  const formats = options.types.flatMap(formatsOf);
  if (formats.length === 0) formats.push(...formatsOf('o2'));
  const { width } = options;
  const address = (at: number): string =>
    options.radix === 'n'
      ? ''
      : at.toString({ d: 10, x: 16 }[options.radix] ?? 8).padStart(options.radix === 'x' ? 6 : 7, '0');
  let output = '';
  let previous: Buffer | undefined;
  let isRepeating = false;
  for (let at = 0; at < data.length; at += width) {
    const line = data.subarray(at, at + width);
    if (!options.isVerbose && previous?.equals(line)) {
      if (!isRepeating) output += '*\n';
      isRepeating = true;
      continue;
    }
    isRepeating = false;
    previous = line;
    for (const [index, format] of formats.entries()) {
      const shown = address(options.skip + at);
      output += `${index === 0 ? shown : ' '.repeat(shown.length)}${lineOf(format, line, width)}\n`;
    }
  }
  if (options.radix !== 'n') output += `${address(options.skip + data.length)}\n`;
  await process.print(output);
  return failed ? 1 : 0;
}

/** What would never come to an end, or not begin. */
function mistakeIn({ types, width }: OdOptions): string | undefined {
  if (!Number.isInteger(width) || width <= 0) return `invalid width argument '${width}'`;
  const wrong = types.find((type) => !/^([ac]z?|[doux][1248CSIL]?z?)+$/.test(type));
  return wrong === undefined ? undefined : `invalid type string '${wrong}'`;
}

function lineOf({ size, show, hasText }: Format, line: Buffer, width: number): string {
  // The last unit may be cut: zeros stand in for what is missing.
  const padded = Buffer.concat([line, Buffer.alloc((size - (line.length % size)) % size)]);
  let text = '';
  for (let at = 0; at < padded.length; at += size) text += show(padded, at);
  if (!hasText) return text;
  const full = (text.length / (padded.length / size)) * (width / size);
  const characters = [...line].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.'));
  return `${text.padEnd(full)}  >${characters.join('')}<`;
}

/** `x1`, `x1z`, `c`, `o2d1`. */
function formatsOf(types: string): Format[] {
  return [...types.matchAll(/([acdoux])(\d|C|S|I|L)?(z)?/g)].map(([, kind = 'o', size, z]): Format => {
    const hasText = z !== undefined;
    if (kind === 'c' || kind === 'a')
      return {
        size: 1,
        hasText,
        show: (data, at) => (kind === 'c' ? character : named)(data[at] ?? 0).padStart(4),
      };
    const sizes: Readonly<Record<string, number>> = { C: 1, S: 2, I: 4, L: 8 };
    const bytes = sizes[size ?? ''] ?? Number(size ?? 4);
    const { radix, signed, widths } = kinds[kind] ?? { radix: 8, signed: false, widths: {} };
    const width = widths[bytes] ?? 0;
    const fill = radix === 10 ? ' ' : '0';
    return {
      size: bytes,
      hasText,
      show: (data, at) => ` ${numberAt(data, at, { bytes, signed }).toString(radix).padStart(width, fill)}`,
    };
  });
}

function numberAt(
  data: Buffer,
  at: number,
  { bytes, signed }: { bytes: number; signed: boolean },
): number | bigint {
  if (bytes === 8) return signed ? data.readBigInt64LE(at) : data.readBigUInt64LE(at);
  return signed ? data.readIntLE(at, bytes) : data.readUIntLE(at, bytes);
}

function character(byte: number): string {
  const escape = escapes[byte];
  if (escape !== undefined) return escape;
  return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : byte.toString(8).padStart(3, '0');
}

const named = (byte: number): string => {
  const low = byte & 127;
  return low === 127 ? 'del' : (names[low] ?? String.fromCharCode(low));
};

interface OdOptions {
  radix: string;
  types: string[];
  count: number;
  skip: number;
  width: number;
  isVerbose: boolean;
  files: string[];
}

function parse(args: readonly string[]): OdOptions {
  const options: OdOptions = {
    radix: 'o',
    types: [],
    count: Infinity,
    skip: 0,
    width: 16,
    isVerbose: false,
    files: [],
  };
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const long = /^--(format|address-radix|read-bytes|skip-bytes|width|output-duplicates)(?:=(.*))?$/.exec(
      arg,
    );
    if (long)
      set(
        options,
        {
          format: 't',
          'address-radix': 'A',
          'read-bytes': 'N',
          'skip-bytes': 'j',
          width: 'w',
          'output-duplicates': 'v',
        }[long[1] ?? ''] ?? '',
        long[2] ?? '',
      );
    else if (!/^-./.test(arg)) options.files.push(arg);
    else
      for (let i = 1; i < arg.length; i++) {
        const letter = arg[i] ?? '';
        if (!'AtNjw'.includes(letter)) {
          set(options, letter, '');
          continue;
        }
        const value = arg.slice(i + 1);
        set(options, letter, value !== '' || letter === 'w' ? value : (rest.shift() ?? ''));
        break;
      }
  }
  return options;
}

function set(options: OdOptions, letter: string, value: string): void {
  if (letter === 'A') options.radix = value;
  else if (letter === 't') options.types.push(value);
  else if (letter === 'N') options.count = Number(value);
  else if (letter === 'j') options.skip = Number(value);
  else if (letter === 'w') options.width = value === '' ? 32 : Number(value);
  else if (letter === 'v') options.isVerbose = true;
  else options.types.push(shorthand[letter] ?? letter);
}
