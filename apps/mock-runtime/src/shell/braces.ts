import type { WordNode } from 'just-bash';
import type { WordPart } from './syntax';

/** `a{b,c}` is two words; `{1..3}` three. */
export function braceAlternatives(word: WordNode): WordNode[] {
  const at = word.parts.findIndex((part) => part.type === 'BraceExpansion');
  const part = word.parts[at];
  if (part?.type !== 'BraceExpansion') return [word];
  const before = word.parts.slice(0, at);
  const after = word.parts.slice(at + 1);
  return part.items.flatMap((item) => {
    const choices: WordPart[][] =
      item.type === 'Word' ? [item.word.parts] : rangeOf(item).map((value) => [{ type: 'Literal', value }]);
    return choices.flatMap((parts) => braceAlternatives({ ...word, parts: [...before, ...parts, ...after] }));
  });
}

interface Range {
  start: string | number;
  end: string | number;
  step?: number;
}

function rangeOf({ start, end, step }: Range): string[] {
  const numeric = typeof start === 'number' && typeof end === 'number';
  const from = numeric ? Number(start) : String(start).charCodeAt(0);
  const to = numeric ? Number(end) : String(end).charCodeAt(0);
  const by = Math.max(1, Math.abs(step ?? 1)) * (to < from ? -1 : 1);
  const values: string[] = [];
  for (let value = from; by > 0 ? value <= to : value >= to; value += by)
    values.push(numeric ? String(value) : String.fromCharCode(value));
  return values;
}
