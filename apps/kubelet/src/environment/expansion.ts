/**
 * `$(NAME)` references in commands, arguments and values: unknown names stay as they are, `$$` is a literal dollar.
 * Source: https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char !== '$' || i + 1 >= text.length) {
      out += char;
      continue;
    }
    const next = text.charAt(i + 1);
    if (next === '$') {
      out += '$';
      i++;
      continue;
    }
    const end = next === '(' ? text.indexOf(')', i + 2) : -1;
    if (end < 0) {
      out += '$';
      continue;
    }
    const name = text.slice(i + 2, end);
    out += lookup(name) ?? `$(${name})`;
    i = end;
  }
  return out;
}
