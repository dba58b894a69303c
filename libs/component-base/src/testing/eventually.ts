/**
 * Waits until `check` stops throwing (and does not return false), for conditions that another process or task brings
 * about. Fails with the last error after `timeoutMs` of real time: a limit for what hangs, and no measure of speed.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 30_000, intervalMs = 10 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await check();
      if (value !== false) return value;
      failure = new Error('condition stayed false');
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`condition not met within ${timeoutMs} ms`, { cause: failure });
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
