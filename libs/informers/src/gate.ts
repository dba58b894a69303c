/** Runs work, at most so many at once; the rest waits in order. */
export type Gate = <R>(work: () => Promise<R>) => Promise<R>;

export function createGate(limit: number): Gate {
  let running = 0;
  const waiting: Array<() => void> = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      // The place is handed on, or given back when nobody waits.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
