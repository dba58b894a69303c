/** A part of a text that field splitting has made, and what separates it from the next. */
export interface SplitPart {
  text: string;
  /** `hard`: by a character of IFS that is no blank, which also separates empty fields. */
  end: 'none' | 'soft' | 'hard';
}

/** Field splitting by IFS (POSIX 2.6.5). */
export function splitByIfs(text: string, ifs: string): SplitPart[] {
  if (ifs === '' || text === '') return [{ text, end: 'none' }];
  const separator = separatorOf(ifs);
  const parts: SplitPart[] = [];
  let start = 0;
  for (const match of text.matchAll(separator)) {
    const hard = match.groups?.hard !== undefined;
    parts.push({ text: text.slice(start, match.index), end: hard ? 'hard' : 'soft' });
    start = match.index + match[0].length;
  }
  parts.push({ text: text.slice(start), end: 'none' });
  return parts;
}

function separatorOf(ifs: string): RegExp {
  const blanks = classOf([...ifs].filter((c) => ' \t\n'.includes(c)));
  const others = classOf([...ifs].filter((c) => !' \t\n'.includes(c)));
  if (others === '') return new RegExp(`${blanks}+`, 'g');
  if (blanks === '') return new RegExp(`(?<hard>${others})`, 'g');
  return new RegExp(`${blanks}*(?<hard>${others})${blanks}*|${blanks}+`, 'g');
}

const classOf = (characters: readonly string[]): string =>
  characters.length === 0 ? '' : `[${characters.map((c) => c.replace(/[\\\]^-]/g, '\\$&')).join('')}]`;
