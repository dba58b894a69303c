import { CacheEntry } from '../cacher/cache-entry';
import { CacheEvent, type ChangeType } from '../cacher/cache-event';
import type { Selection } from './selection';
import { frameType, WatchStream } from './watch-stream';

const codec = {
  decode: () => ({ metadata: { name: 'a' } }),
  encode: () => Buffer.alloc(0),
  adopt: (value: Uint8Array) => value,
  isCheap: () => true,
  append: () => undefined,
  decodeUnmanaged: () => ({ metadata: { name: 'a' } }),
  appendMetadata: () => undefined,
};
const entry = (value: string) =>
  new CacheEntry(
    { namespace: 'ns', name: 'a', revision: 1, value: Buffer.from(value) },
    { codec: () => codec },
  );
const selection: Selection = {
  namespace: 'ns',
  name: undefined,
  selective: true,
  matches: (e) => Buffer.from(e.value).toString() === 'in',
};

describe('frameType', () => {
  it.each<[ChangeType, string | undefined, string, string | undefined]>([
    ['ADDED', undefined, 'in', 'ADDED'],
    ['ADDED', undefined, 'out', undefined],
    ['MODIFIED', 'out', 'in', 'ADDED'],
    ['MODIFIED', 'in', 'in', 'MODIFIED'],
    ['MODIFIED', 'in', 'out', 'DELETED'],
    ['MODIFIED', 'out', 'out', undefined],
    ['DELETED', 'in', 'in', 'DELETED'],
    ['DELETED', 'out', 'out', undefined],
  ])('%s from %s to %s is %s to a watcher with a selector', (type, before, after, expected) => {
    const event = new CacheEvent(type, 2, entry(after), before === undefined ? undefined : entry(before));
    expect(frameType(event, selection)).toBe(expected);
  });

  it('hides other namespaces', () => {
    const event = new CacheEvent('ADDED', 2, entry('in'), undefined);
    expect(frameType(event, { ...selection, namespace: 'other' })).toBeUndefined();
  });
});

describe('a watcher whose events have to be converted', () => {
  /** A stream on a cache that missed `missed` events; the conversion never answers. */
  function open(missed: number) {
    const event = (revision: number) => new CacheEvent('ADDED', revision, entry('in'), undefined);
    let send: (event: CacheEvent) => void = () => undefined;
    const countTerminated = jest.fn();
    const cache = {
      eventsSince: () => Array.from({ length: missed }, (_, i) => event(i + 1)),
      subscribe: ({ event: receive }: { event: typeof send }) => {
        send = receive;
        return () => (send = () => undefined);
      },
      countTerminated,
    };
    const response = {
      destroyed: false,
      destroy: () => (response.destroyed = true),
      off: () => undefined,
    };
    const request = {
      resource: { store: { cache }, prepare: () => new Promise(() => undefined) },
      response,
      begun: () => undefined,
    };
    const stream = new WatchStream({} as never, request as never, { selection } as never);
    stream.follow(0);
    return {
      countTerminated,
      response,
      sendMany: (count: number) => {
        for (let i = 0; i < count; i++) send(event(missed + i + 1));
      },
    };
  }

  it.each([0, 5000])('is closed when a thousand wait, besides the %i that it has missed', (missed) => {
    const { sendMany, countTerminated, response } = open(missed);
    sendMany(1000);
    expect(response.destroyed).toBe(false);
    sendMany(10);
    expect(response.destroyed).toBe(true);
    expect(countTerminated).toHaveBeenCalledTimes(1);
  });
});
