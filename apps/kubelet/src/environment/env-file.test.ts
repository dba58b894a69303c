import { valueInEnvFile } from './env-file';

const text = `# settings
A='one'
  B='two words' # and a comment
C='first
# second
third'
D= 'not this'
E='$A "\\n"'
`;

it.each([
  ['A', 'one'],
  ['B', 'two words'],
  ['C', 'first\n# second\nthird'],
  ['D', undefined],
  ['E', '$A "\\n"'],
  ['F', undefined],
])('finds %s', (key, value) => {
  expect(valueInEnvFile(text, key)).toBe(value);
});

it.each([
  ['A', "at line 1: missing '='"],
  ["='x'", 'at line 1: empty variable name'],
  ["A ='x'", "at line 1: whitespace before '=' is not allowed"],
  ['A=x', 'at line 1: value must be enclosed in single quotes'],
  ['A=', 'at line 1: value must be enclosed in single quotes'],
  ["\nA='x' y", 'at line 2: unexpected content after closing quote'],
  ["A='x'\nB='y\n", 'starting at line 2: unclosed single quote'],
])('refuses %j', (bad, problem) => {
  expect(() => valueInEnvFile(bad, 'Z')).toThrow(`invalid environment variable format ${problem}`);
});
