import { CacheEntry } from './cache-entry';
import { CacheEvent } from './cache-event';
import { EventRing } from './event-ring';

const codec = {
  decode: () => ({ metadata: { name: 'a' } }),
  encode: () => Buffer.alloc(0),
  adopt: (value: Uint8Array) => value,
  isCheap: () => true,
  append: () => undefined,
  decodeUnmanaged: () => ({ metadata: { name: 'a' } }),
  appendMetadata: () => undefined,
};
const event = (revision: number) =>
  new CacheEvent(
    'ADDED',
    revision,
    new CacheEntry({ namespace: '', name: 'a', revision, value: Buffer.alloc(0) }, { codec: () => codec }),
    undefined,
  );

describe('EventRing', () => {
  it('hands out what came after a revision, in order', () => {
    const ring = new EventRing(10, 5);
    for (const revision of [6, 8, 9]) ring.push(event(revision));
    expect(ring.since(6)?.map((e) => e.revision)).toEqual([8, 9]);
    expect(ring.since(9)).toEqual([]);
  });

  it('says that events are gone when it had to forget them', () => {
    const ring = new EventRing(200, 0);
    for (let revision = 1; revision <= 500; revision++) ring.push(event(revision));
    expect(ring.oldestResumable).toBe(300);
    expect(ring.since(299)).toBeUndefined();
    expect(ring.since(300)?.map((e) => e.revision)).toEqual(Array.from({ length: 200 }, (_, i) => 301 + i));
  });

  it('lets go of frames that all watchers have had', () => {
    const ring = new EventRing(200, 0);
    const make = jest.fn(() => Buffer.alloc(1));
    const events = Array.from({ length: 100 }, (_, i) => event(i + 1));
    for (const one of events) {
      ring.push(one);
      one.frame('ADDED', make);
    }
    make.mockClear();
    for (const one of events.slice(-50)) one.frame('ADDED', make);
    expect(make).not.toHaveBeenCalled();
    events[0]?.frame('ADDED', make);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('does not know what was before the first load', () => {
    expect(new EventRing(10, 5).since(4)).toBeUndefined();
  });
});
