import { goJson } from '../server/go-json';
import { goStruct } from './go-struct';

const context = 3;

/** What changed from one object to another, as a unified diff of their Go structs. Source: apimachinery/pkg/util/diff.Diff. */
export function goDiff(old: unknown, next: unknown, type: string): string {
  const [a, b] = [old, next].map((value) => goJson(goStruct(value, type), 1).split('\n'));
  return unified(a ?? [], b ?? []);
}

/** A run of lines: equal in both, or replaced. Indices as in `slice`. */
interface Change {
  readonly a: readonly [number, number];
  readonly b: readonly [number, number];
}

function unified(a: readonly string[], b: readonly string[]): string {
  return hunksOf(changesOf(a, b), a.length)
    .map((hunk) => {
      const first = hunk[0];
      const last = hunk.at(-1);
      if (!first || !last) return '';
      const from = Math.max(0, first.a[0] - context);
      const to = Math.min(a.length, last.a[1] + context);
      const lines: string[] = [];
      let at = from;
      for (const change of hunk) {
        lines.push(...a.slice(at, change.a[0]).map((line) => ` ${line}`));
        lines.push(...a.slice(...change.a).map((line) => `-${line}`));
        lines.push(...b.slice(...change.b).map((line) => `+${line}`));
        at = change.a[1];
      }
      lines.push(...a.slice(at, to).map((line) => ` ${line}`));
      const before = [from, to] as const;
      const after = [first.b[0] - (first.a[0] - from), last.b[1] + (to - last.a[1])] as const;
      return `@@ -${range(before)} +${range(after)} @@\n${lines.join('\n')}\n`;
    })
    .join('');
}

function range([from, to]: readonly [number, number]): string {
  const length = to - from;
  if (length === 1) return String(from + 1);
  return `${length === 0 ? from : from + 1},${length}`;
}

/** Changes so near to each other that what stands between them is shown whole. */
function hunksOf(changes: readonly Change[], length: number): Change[][] {
  const hunks: Change[][] = [];
  let end = -length;
  for (const change of changes) {
    const current = hunks.at(-1);
    if (current && change.a[0] - end <= 2 * context) current.push(change);
    else hunks.push([change]);
    end = change.a[1];
  }
  return hunks;
}

/** What differs, by the longest common subsequence of lines. */
function changesOf(a: readonly string[], b: readonly string[]): Change[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let rest = 0;
  while (rest < a.length - start && rest < b.length - start && a.at(-1 - rest) === b.at(-1 - rest)) rest++;
  const [left, right] = [a.slice(start, a.length - rest), b.slice(start, b.length - rest)];
  const common = lengthsOf(left, right);
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      i++;
      j++;
      continue;
    }
    const [fromA, fromB] = [i, j];
    while (i < left.length || j < right.length) {
      if (i < left.length && j < right.length && left[i] === right[j]) break;
      const [down, across] = [common[i + 1]?.[j] ?? -1, common[i]?.[j + 1] ?? -1];
      if (i < left.length && (j >= right.length || down >= across)) i++;
      else j++;
    }
    changes.push({ a: [start + fromA, start + i], b: [start + fromB, start + j] });
  }
  return changes;
}

/** Lengths of the longest common subsequences of all tails. */
function lengthsOf(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, below] = [lengths[i] ?? [], lengths[i + 1] ?? []];
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return lengths;
}
