/** Work that has gone on for so long in one turn of the event loop lets other work in between. */
export const longTurnMs = 8;

let startedAt: number | undefined;

/**
 * Whether the present turn of the event loop has gone on for long, counted from the first call in it. Cheap enough to be
 * asked for each of thousands of items. For items that share a turn, however many bring them; work of which each piece
 * must get on beside the others has a slice of its own instead (the API server's Slices).
 */
export function isTurnLong(): boolean {
  const now = performance.now();
  if (startedAt !== undefined) return now - startedAt > longTurnMs;
  startedAt = now;
  setImmediate(() => (startedAt = undefined));
  return false;
}

/**
 * Resolves in a young turn of the event loop: however many wait, they go on one after the other, each turn with as many
 * as fit into it. Whoever asks `isTurnLong` first, right before the work, spares a promise: `if (isTurnLong()) await
 * letOthersRun()`.
 */
export async function letOthersRun(): Promise<void> {
  while (isTurnLong()) await new Promise<void>((resolve) => setImmediate(resolve));
}
