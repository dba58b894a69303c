import type { Process } from '../kernel/process';
import { hasGnuTools, parseArgs } from './paths';
import { linesOf, readInputs } from './inputs';

interface Change {
  /** Lines of the first file from `at` on that are not in the second; and the other way round. */
  at: number;
  removed: readonly string[];
  to: number;
  added: readonly string[];
}

/**
 * Pairs of lines that are compared: four bytes each, and all containers of the node wait meanwhile. Of more than these the
 * whole is one change, which is right, if not the shortest.
 */
const mostCompared = 4_000_000;
/** Lines around a change in the unified form. */
const context = 3;

/** `diff [-uqbi] [-U N] FILE FILE`: 0 same, 1 different, 2 trouble. busybox knows the unified form only. */
export async function diff(process: Process): Promise<number> {
  const { flags, values, rest } = parseArgs(process.argv.slice(1), 'ULr');
  const { inputs, failed } = await readInputs(process, rest.slice(0, 2));
  const [a, b] = inputs;
  if (failed || !a || !b) return 2;
  if (a.data.equals(b.data)) return 0;
  if (flags.has('q') || flags.has('brief')) {
    await process.print(`Files ${a.name} and ${b.name} differ\n`);
    return 1;
  }
  const isUnified = !hasGnuTools(process) || flags.has('u') || flags.has('U') || flags.has('unified');
  const changes = changesOf(linesOf(a.data), linesOf(b.data), (line) => comparable(line, flags));
  if (changes.length === 0) return 0;
  const text = isUnified
    ? `--- ${a.name}\n+++ ${b.name}\n${unified(linesOf(a.data), changes, Number(values.get('U') ?? context))}`
    : changes.map(normal).join('');
  await process.print(Buffer.from(text, 'latin1'));
  return 1;
}

function comparable(line: string, flags: ReadonlySet<string>): string {
  let out = flags.has('w')
    ? line.replace(/\s+/g, '')
    : flags.has('b')
      ? line.replace(/\s+/g, ' ').trimEnd()
      : line;
  if (flags.has('i')) out = out.toLowerCase();
  return out;
}

/** By the longest common subsequence, after what both begin and end with. */
function changesOf(a: readonly string[], b: readonly string[], key: (line: string) => string): Change[] {
  const same = (i: number, j: number) => key(a[i] ?? '') === key(b[j] ?? '');
  let start = 0;
  while (start < a.length && start < b.length && same(start, start)) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && same(endA - 1, endB - 1)) [endA, endB] = [endA - 1, endB - 1];
  const [rows, columns] = [endA - start, endB - start];
  if (rows * columns > mostCompared) {
    return [{ at: start, removed: a.slice(start, endA), to: start, added: b.slice(start, endB) }];
  }
  const longest = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0;
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--) {
      const row = longest[i];
      if (row)
        row[j] = same(start + i, start + j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const changes: Change[] = [];
  for (let i = 0, j = 0; i < rows || j < columns;) {
    if (i < rows && j < columns && same(start + i, start + j)) {
      i++;
      j++;
      continue;
    }
    const [fromA, fromB] = [i, j];
    while ((i < rows || j < columns) && !(i < rows && j < columns && same(start + i, start + j))) {
      if (j >= columns || (i < rows && at(i + 1, j) >= at(i, j + 1))) i++;
      else j++;
    }
    changes.push({
      at: start + fromA,
      removed: a.slice(start + fromA, start + i),
      to: start + fromB,
      added: b.slice(start + fromB, start + j),
    });
  }
  return changes;
}

const rangeOf = (at: number, count: number): string =>
  count === 0 ? String(at) : count === 1 ? String(at + 1) : `${at + 1},${at + count}`;

/** `2c2`, `< old`, `---`, `> new`. */
function normal({ at, removed, to, added }: Change): string {
  const kind = removed.length === 0 ? 'a' : added.length === 0 ? 'd' : 'c';
  return [
    `${rangeOf(at, removed.length)}${kind}${rangeOf(to, added.length)}`,
    ...removed.map((line) => `< ${line}`),
    ...(kind === 'c' ? ['---'] : []),
    ...added.map((line) => `> ${line}`),
    '',
  ].join('\n');
}

/** Changes that are near each other share a hunk. */
function unified(a: readonly string[], changes: readonly Change[], around: number): string {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last && change.at - (last.at + last.removed.length) <= 2 * around) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  return hunks.map((hunk) => hunkText(a, hunk, around)).join('');
}

function hunkText(a: readonly string[], hunk: readonly Change[], around: number): string {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (!first || !last) return '';
  const from = Math.max(0, first.at - around);
  const to = Math.min(a.length, last.at + last.removed.length + around);
  const lines: string[] = [];
  let at = from;
  for (const change of hunk) {
    for (; at < change.at; at++) lines.push(` ${a[at] ?? ''}`);
    for (const line of change.removed) lines.push(`-${line}`);
    for (const line of change.added) lines.push(`+${line}`);
    at = change.at + change.removed.length;
  }
  for (; at < to; at++) lines.push(` ${a[at] ?? ''}`);
  const grown = hunk.reduce((sum, { added, removed }) => sum + added.length - removed.length, 0);
  const span = (start: number, count: number) =>
    count === 1 ? String(start + 1) : `${count === 0 ? start : start + 1},${count}`;
  const start = from + (first.to - first.at);
  return `@@ -${span(from, to - from)} +${span(start, to - from + grown)} @@\n${lines.join('\n')}\n`;
}

/** `cmp [-s] FILE FILE`: where they begin to differ. */
export async function cmp(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1));
  const { inputs, failed } = await readInputs(process, rest.slice(0, 2), {});
  const [a, b] = inputs;
  if (failed || !a || !b) return hasGnuTools(process) ? 2 : 1;
  if (a.data.equals(b.data)) return 0;
  if (flags.has('s')) return 1;
  const length = Math.min(a.data.length, b.data.length);
  const at = a.data.subarray(0, length).findIndex((byte, index) => byte !== b.data[index]);
  if (at < 0) {
    await process.complain(`cmp: EOF on ${a.data.length < b.data.length ? a.name : b.name}\n`);
    return 1;
  }
  const line = a.data.subarray(0, at).filter((byte) => byte === 10).length + 1;
  await process.print(`${a.name} ${b.name} differ: char ${at + 1}, line ${line}\n`);
  return 1;
}
