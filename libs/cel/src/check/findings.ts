import type { Finding } from './parser';

/** What was found in an expression, with places and excerpts of it, as cel-go prints it. */
export function describeFindings(findings: readonly Finding[], expression: string): string {
  const points = [...expression];
  return findings
    .map((finding) => ({ ...placeOf(finding.position, points), message: finding.message }))
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, text, message }) => {
      const shown = text.join('').replaceAll('\t', ' ');
      const dots = text.slice(0, column).map((point) => (isWide(point) ? '．' : '.'));
      const mark = isWide(text[column] ?? '') ? '＾' : '^';
      return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${shown}\n | ${dots.join('')}${mark}`;
    })
    .join('\n');
}

const isWide = (point: string): boolean => (point.codePointAt(0) ?? 0) > 0x7f;

function placeOf(
  position: number,
  points: readonly string[],
): { line: number; column: number; text: readonly string[] } {
  const before = points.slice(0, position);
  const start = before.lastIndexOf('\n') + 1;
  const end = points.indexOf('\n', start);
  return {
    line: before.filter((point) => point === '\n').length + 1,
    column: position - start,
    text: points.slice(start, end < 0 ? undefined : end),
  };
}
