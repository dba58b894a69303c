import { CacheEntry } from '../cacher/cache-entry';
import { CacheEvent, type ChangeType } from '../cacher/cache-event';
import type { Selection } from './selection';
import { frameType } from './watch-stream';

const codec = {
  decode: () => ({ metadata: { name: 'a' } }),
  encode: () => Buffer.alloc(0),
  adopt: (value: Uint8Array) => value,
  isCheap: () => true,
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
