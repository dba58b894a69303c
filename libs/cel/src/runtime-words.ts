/** What goes wrong while an expression runs: the library's words, and cel-go's. */
const words: readonly (readonly [RegExp, string])[] = [
  [/^Optional value is not present$/, 'optional.none() dereference'],
  [/^modulo by zero$/, 'modulus by zero'],
  [/^(integer overflow): .*$/, '$1'],
  [/^Unsigned integer overflow$/, 'unsigned integer overflow'],
  [/^no such key: index out of bounds, index (-?\d+) .*$/, 'index out of bounds: $1'],
  [/^Invalid time zone specified: /, 'unknown time zone '],
  [/^no such overload: .*$/, 'no such overload'],
  [/^(Logical operator requires|Ternary condition must be) bool.*$/, 'no such overload'],
  [/^found no matching overload for '(?:.*\.)?(\w+)\(.*\)'$/, 'no such overload: $1'],
  [/^int\(\) type error: integer overflow$/, 'integer overflow'],
  [/^uint\(\) type error: unsigned integer overflow$/, 'unsigned integer overflow'],
  [/^(int|uint|double)\(\) type error: cannot convert to \1$/, "type conversion error from 'string' to '$1'"],
  [/^bool\(\) conversion error: .*$/, "type conversion error from 'string' to 'bool'"],
];

/** A problem of an expression that runs, as cel-go tells it. */
export function runtimeWords(problem: string): string {
  const [pattern, replacement] = words.find(([known]) => known.test(problem)) ?? [];
  return pattern === undefined || replacement === undefined ? problem : problem.replace(pattern, replacement);
}
