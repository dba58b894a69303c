/** `0-2,5` → [0, 1, 2, 5]; indexes at or above `completions` are left out. */
export function parseIndexes(text: string | undefined, completions = Number.MAX_SAFE_INTEGER): number[] {
  if (!text) return [];
  return text.split(',').flatMap((part) => {
    const [first = '', last = first] = part.split('-');
    const end = Math.min(Number(last), completions - 1);
    return Array.from({ length: Math.max(0, end - Number(first) + 1) }, (_, i) => Number(first) + i);
  });
}

/** [0, 1, 2, 5] → `0-2,5`; two neighbours are written as `0,1`. Source: job/indexed_job_utils.go. */
export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end++;
    const [first, last] = [sorted[i], sorted[end]];
    parts.push(end === i ? `${first}` : end === i + 1 ? `${first},${last}` : `${first}-${last}`);
    i = end + 1;
  }
  return parts.join(',');
}

/** The `count` lowest indexes below `completions` that are not taken. */
export function firstFreeIndexes(taken: ReadonlySet<number>, count: number, completions: number): number[] {
  const free: number[] = [];
  for (let index = 0; index < completions && free.length < count; index++)
    if (!taken.has(index)) free.push(index);
  return free;
}
