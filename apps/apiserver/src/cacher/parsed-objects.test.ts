import type { KubeObject } from '@tinkernetes/api';
import { CacheEntry, type StoredCodec } from './cache-entry';
import { ParsedObjects } from './parsed-objects';

let decodes = 0;
const codec: StoredCodec = {
  decode: (value) => {
    decodes++;
    return JSON.parse(Buffer.from(value).toString()) as KubeObject;
  },
  encode: (entry) => Buffer.from(entry.value),
  adopt: (value) => value,
  isCheap: () => true,
  append: () => undefined,
  decodeUnmanaged: ({ value }) => JSON.parse(Buffer.from(value).toString()) as KubeObject,
  appendMetadata: () => undefined,
};

function entries(count: number, budget: number): CacheEntry[] {
  const owner = { codec: () => codec, parsed: new ParsedObjects(budget) };
  return Array.from({ length: count }, (_, i) => {
    const value = Buffer.from(JSON.stringify({ metadata: { name: `${i}`, labels: { half: `${i % 2}` } } }));
    return new CacheEntry({ namespace: 'a', name: `${i}`, revision: i, value }, owner);
  });
}

describe('ParsedObjects', () => {
  beforeEach(() => (decodes = 0));

  it('keeps all objects parsed while they fit', () => {
    const all = entries(10, 10_000);
    for (let round = 0; round < 3; round++)
      for (const { object } of all) expect(object.metadata).toBeDefined();
    expect(decodes).toBe(10);
  });

  it('forgets the oldest objects beyond its budget, and they are parsed again when they are needed', () => {
    const all = entries(10, 100);
    for (const { object } of all) expect(object.metadata).toBeDefined();
    expect(all[9]?.object.metadata.name).toBe('9');
    expect(decodes).toBe(10);
    expect(all[0]?.object.metadata.name).toBe('0');
    expect(decodes).toBe(11);
  });

  it('forgets what has been replaced before what is older', () => {
    const all = entries(4, 100);
    for (const { object } of all.slice(0, 2)) expect(object.metadata).toBeDefined();
    all[1]?.superseded();
    expect(all[2]?.object.metadata.name).toBe('2');
    expect(all[0]?.object.metadata.name).toBe('0');
    expect(decodes).toBe(3);
    expect(all[1]?.object.metadata.name).toBe('1');
    expect(decodes).toBe(4);
  });

  it('forgets none of them for a look at a whole list, and keeps what is looked at while there is room', () => {
    const all = entries(10, 100);
    const [first, second] = all;
    expect(first?.glance()).toBe(first?.object);
    for (const entry of all) expect(entry.glance().metadata.name).toBe(entry.name);
    expect(decodes).toBe(10);
    expect(first?.object.metadata.name).toBe('0');
    expect(second?.object.metadata.name).toBe('1');
    expect(decodes).toBe(10);
  });

  it('still knows the labels and fields of objects that were forgotten', () => {
    const all = entries(100, 100);
    const read = () =>
      all.map((entry) => [entry.labels.half, entry.fields(({ metadata }) => ({ of: metadata.name })).of]);
    const first = read();
    expect(read()).toEqual(first);
    expect(decodes).toBeLessThanOrEqual(100);
  });
});
