import type { Process } from '../kernel/process';
import { hasGnuTools, parseArgs } from './paths';
import { linesOf, readInputs } from './inputs';

const kinds = ['l', 'w', 'm', 'c'] as const;

/** `wc [-lwmc] [file…]`: lines, words, characters, bytes; read piece by piece, however much it is. */
export async function wc(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(
    process.argv.slice(1).map((arg) => arg.replace(/^--(lines|words|chars|bytes)$/, longFlag)),
  );
  const asked = kinds.filter((kind) => flags.has(kind));
  const shown = asked.length > 0 ? asked : (['l', 'w', 'c'] as const);
  const { inputs, failed } = await readInputs(process, rest);
  const rows = inputs.map(({ name, data }) => ({ name, counts: countsOf(data) }));
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
  return failed ? 1 : 0;
}

const longFlag = (_: string, name: string): string => `-${name === 'chars' ? 'm' : (name[0] ?? '')}`;

function countsOf(data: Buffer): Record<(typeof kinds)[number], number> {
  const text = data.toString();
  const lines = text.split('\n').length - 1;
  return { l: lines, w: text.split(/\s+/).filter(Boolean).length, m: [...text].length, c: data.length };
}

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
