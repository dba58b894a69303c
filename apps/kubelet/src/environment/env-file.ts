/** A file is no environment file; the message is for the Pod's status. */
export class EnvFileError extends Error {
  override readonly name = 'EnvFileError';

  constructor(line: number, problem: string, at = 'at') {
    super(`invalid environment variable format ${at} line ${line}: ${problem}`);
  }
}

/**
 * The value of a variable in a file of `NAME='value'` lines: values are quoted, literal, and may have several lines;
 * undefined where there is none, or nothing behind the `=`. Source: KEP-3721, pkg/kubelet/util/env ParseEnv.
 */
export function valueInEnvFile(text: string, key: string): string | undefined {
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]?.replace(/^[ \t]+/, '') ?? '';
    if (line === '' || line.startsWith('#')) continue;
    const { name, rest } = assignment(line, i + 1);
    if (/^([ \t]|$)/.test(rest)) {
      if (rest === '') throw new EnvFileError(i + 1, 'value must be enclosed in single quotes');
      if (name === key) return undefined;
      continue;
    }
    const quoted = quotedValue(lines, i, rest);
    if (name === key) return quoted.value;
    i = quoted.lastLine;
  }
  return undefined;
}

function assignment(line: string, number: number): { name: string; rest: string } {
  const at = line.indexOf('=');
  if (at < 0) throw new EnvFileError(number, "missing '='");
  const name = line.slice(0, at);
  if (name.trim() === '') throw new EnvFileError(number, 'empty variable name');
  if (name.trimEnd() !== name) throw new EnvFileError(number, "whitespace before '=' is not allowed");
  return { name, rest: line.slice(at + 1) };
}

/** `first`: what follows the `=` on the line with that index. */
function quotedValue(
  lines: readonly string[],
  index: number,
  first: string,
): { value: string; lastLine: number } {
  if (!first.startsWith("'")) throw new EnvFileError(index + 1, 'value must be enclosed in single quotes');
  let value = '';
  let rest = first.slice(1);
  for (let i = index; ; rest = lines[i] ?? '') {
    const end = rest.indexOf("'");
    if (end >= 0) {
      if (!/^[ \t]*(#|$)/.test(rest.slice(end + 1)))
        throw new EnvFileError(i + 1, 'unexpected content after closing quote');
      return { value: value + rest.slice(0, end), lastLine: i };
    }
    value += `${rest}\n`;
    i += 1;
    if (i >= lines.length) throw new EnvFileError(index + 1, 'unclosed single quote', 'starting at');
  }
}
