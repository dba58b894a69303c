import type { KubeObject, Status } from '@tinkernetes/api';
import { keyOf, StatusError } from '@tinkernetes/apimachinery';
import type { WatchEvent } from '@tinkernetes/client';
import { isTurnLong, letOthersRun, linkSignals, type Clock } from '@tinkernetes/component-base';

/** On the bookmark that follows what was there when the watch began. */
const initialEventsEnd = 'k8s.io/initial-events-end';

/** A server that sends what is there says something sooner, or does not know that it was to say when that is all. */
const silenceMs = 30_000;

/** The server does not send what is there in a watch: it is to be listed. */
export class StreamUnsupported extends Error {
  override readonly name = 'StreamUnsupported';
}

export interface InitialState<T extends KubeObject> {
  objects: readonly T[];
  resourceVersion: string;
}

export interface InitialEventsOptions<T extends KubeObject> {
  openWatch(signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
  take(state: InitialState<T>): Promise<void>;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Has taken what a watch with `sendInitialEvents` begins with. Returns the same watch, from there on. Throws
 * StreamUnsupported when the server refuses the query, or ignores it and then has nothing to say.
 */
export async function takeInitialEvents<T extends KubeObject>({
  openWatch,
  take,
  clock,
  signal: stop,
}: InitialEventsOptions<T>): Promise<AsyncIterable<WatchEvent<T>>> {
  const silence = new AbortController();
  const { signal, release } = linkSignals(stop, silence.signal);
  const events = openWatch(signal)[Symbol.asyncIterator]();
  let wasHeard = true;
  const watchdog = clock.setInterval(() => {
    if (!wasHeard) silence.abort(new StreamUnsupported('the end of what is there was not sent'));
    wasHeard = false;
  }, silenceMs);
  try {
    const state = await readInitialState(events, () => (wasHeard = true));
    watchdog.cancel();
    await take(state);
    return endingWith(events, release);
  } catch (error) {
    release();
    await events.return?.();
    if (silence.signal.aborted) throw silence.signal.reason;
    // Whatever it says about the query: it does not know it.
    if (error instanceof StatusError && [400, 422].includes(error.code))
      throw new StreamUnsupported(error.message, { cause: error });
    throw error;
  } finally {
    watchdog.cancel();
  }
}

async function readInitialState<T extends KubeObject>(
  events: AsyncIterator<WatchEvent<T>>,
  heard: () => void,
): Promise<InitialState<T>> {
  const objects = new Map<string, T>();
  for (let next = await events.next(); !next.done; next = await events.next()) {
    heard();
    const { type, object } = next.value;
    if (type === 'ERROR') throw StatusError.fromStatus(object as Status);
    const { annotations, resourceVersion = '' } = object.metadata;
    if (type === 'BOOKMARK') {
      if (annotations?.[initialEventsEnd] === 'true')
        return { objects: [...objects.values()], resourceVersion };
    } else if (type === 'DELETED') objects.delete(keyOf(object));
    else objects.set(keyOf(object), object);
    if (isTurnLong()) await letOthersRun();
  }
  throw new Error('the watch ended before it had sent what was there');
}

async function* endingWith<E>(events: AsyncIterator<E>, release: () => void): AsyncGenerator<E> {
  try {
    yield* { [Symbol.asyncIterator]: () => events };
  } finally {
    release();
  }
}
