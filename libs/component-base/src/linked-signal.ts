import { setMaxListeners } from 'node:events';

/** Aborts with the first of its sources, for as long as some piece of work lasts. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** The work is over: nothing of it stays with the sources. Idempotent. */
  release(): void;
}

/**
 * For work that is shorter than one of its sources, e.g. a request that also ends with its server. `AbortSignal.any`
 * leaves something of every such signal in the source that lives on, on all Node versions up to at least 26
 * (https://github.com/nodejs/node/issues/55351, https://github.com/nodejs/node/issues/64476).
 */
export function linkSignals(...sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const present = sources.filter((source) => source !== undefined);
  // As many listen as there is work under way; each lets go, so that Node's warning of a leak would be wrong.
  setMaxListeners(0, signal, ...present);
  const release = () => {
    for (const source of present) source.removeEventListener('abort', onAbort);
  };
  const onAbort = () => {
    release();
    controller.abort(present.find((source) => source.aborted)?.reason);
  };
  if (present.some((source) => source.aborted)) onAbort();
  else for (const source of present) source.addEventListener('abort', onAbort, { once: true });
  return { signal, release };
}

/** `linkSignals` around one asynchronous piece of work. */
export async function withLinkedSignal<T>(
  sources: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = linkSignals(...sources);
  try {
    return await work(signal);
  } finally {
    release();
  }
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
