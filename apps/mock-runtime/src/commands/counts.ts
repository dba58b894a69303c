import { isTurnLong, letOthersRun } from '@tinkernetes/component-base';
import type { OpenFile } from '../kernel/open-file';
import type { Process } from '../kernel/process';
import { hasGnuTools, parseArgs } from './paths';
import { linesOf, openInputs, readInputs } from './inputs';

const kinds = ['l', 'w', 'm', 'c'] as const;
type Counts = Record<(typeof kinds)[number], number>;

/** `wc [-lwmc] [file…]`: lines, words, characters, bytes; of what comes, only the present piece is kept. */
export async function wc(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(
    process.argv.slice(1).map((arg) => arg.replace(/^--(lines|words|chars|bytes)$/, longFlag)),
  );
  const asked = kinds.filter((kind) => flags.has(kind));
  const shown = asked.length > 0 ? asked : (['l', 'w', 'c'] as const);
  const rows: { name: string; counts: Counts }[] = [];
  const isWell = await openInputs(process, rest, {
    read: async (name, file) => void rows.push({ name, counts: await countsOf(file, process.signal) }),
  });
  if (rows.length > 1) {
    const total = (kind: (typeof kinds)[number]) => rows.reduce((sum, { counts }) => sum + counts[kind], 0);
    rows.push({ name: 'total', counts: { l: total('l'), w: total('w'), m: total('m'), c: total('c') } });
  }
  // One number stands alone; several stand in columns.
  const isAlone = shown.length === 1 && rows.length === 1;
  const width = isAlone ? 0 : hasGnuTools(process) ? 7 : 9;
  for (const { name, counts } of rows) {
    const columns = shown.map((kind) => String(counts[kind]).padStart(width)).join(' ');
    await process.print(`${columns}${name === '-' ? '' : ` ${name}`}\n`);
  }
  return isWell ? 0 : 1;
}

const longFlag = (_: string, name: string): string => `-${name === 'chars' ? 'm' : (name[0] ?? '')}`;

async function countsOf(file: OpenFile, signal: AbortSignal): Promise<Counts> {
  const counts: Counts = { l: 0, w: 0, m: 0, c: 0 };
  let isInWord = false;
  for (;;) {
    if (isTurnLong()) await letOthersRun();
    const piece = await file.read(signal);
    if (!piece) return counts;
    counts.c += piece.length;
    for (const byte of piece) {
      if (byte === newline) counts.l += 1;
      // All bytes of a character in UTF-8 but the first are 10xxxxxx.
      if ((byte & 0xc0) !== 0x80) counts.m += 1;
      const isSpace = byte === space || (byte >= tab && byte <= carriageReturn);
      if (!isSpace && !isInWord) counts.w += 1;
      isInWord = !isSpace;
    }
  }
}

const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** `uniq [-cdui] [input [output]]` */
export async function uniq(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1), 'fs');
  const { inputs, failed } = await readInputs(process, rest.slice(0, 1));
  if (failed) return 1;
  const keyOf = (line: string) => (flags.has('i') ? line.toLowerCase() : line);
  const groups: { line: string; count: number }[] = [];
  for (const line of linesOf(inputs[0]?.data ?? Buffer.alloc(0))) {
    const last = groups.at(-1);
    if (last && keyOf(last.line) === keyOf(line)) last.count += 1;
    else groups.push({ line, count: 1 });
  }
  const kept = groups.filter(
    ({ count }) => (!flags.has('d') || count > 1) && (!flags.has('u') || count === 1),
  );
  const text = kept
    .map(({ line, count }) => `${flags.has('c') ? `${String(count).padStart(7)} ` : ''}${line}\n`)
    .join('');
  await process.print(Buffer.from(text, 'latin1'));
  return 0;
}
