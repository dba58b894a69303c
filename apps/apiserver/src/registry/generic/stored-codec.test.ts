import { Pods, type KubeObject, type ObjectMeta } from '@tinkernetes/api';
import { ByteSink } from '../../cacher/byte-sink';
import { CacheEntry } from '../../cacher/cache-entry';
import { builtInCodec } from '../../codec/object-codec';
import { encodeProtobuf } from '../../protobuf';
import { createStoredCodec, storedBytes, storedUid } from './stored-codec';

const objects = builtInCodec(Pods);
const codec = createStoredCodec({
  storage: Pods,
  convert: (object) => object,
  canonical: (object) => objects.decode(object).object,
});
const { object: pod } = objects.decode({
  metadata: {
    name: 'a',
    namespace: 'n',
    uid: 'u-1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'o', uid: 'u-0' }],
  },
  spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] },
});

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, sortedKeys(member)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const servedBy = (entry: CacheEntry) => JSON.parse(entry.bytes('json:v1').toString()) as KubeObject;

describe('createStoredCodec', () => {
  it.each([
    ['our own JSON', storedBytes(pod)],
    ['protobuf with its prefix', encodeProtobuf(pod) ?? Buffer.alloc(0)],
    ['JSON of Go, which ends a line', Buffer.from(`${storedBytes(pod).toString()}\n`)],
    ['JSON with sorted keys', Buffer.from(JSON.stringify(sortedKeys(pod)))],
  ])('reads what is stored as %s, and serves it in our form', (_, value) => {
    const entry = new CacheEntry({ namespace: 'n', name: 'a', revision: 7, value }, { codec: () => codec });
    expect(entry.object).toEqual({ ...pod, metadata: { ...pod.metadata, resourceVersion: '7' } });
    expect(entry.bytes('json:v1').toString()).toContain('"uid":"u-1","resourceVersion":"7"');
    expect(JSON.parse(entry.bytes('json:v1').toString())).toEqual(entry.object);
  });

  const managedFields = [
    {
      manager: 'm',
      operation: 'Update' as const,
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:finalizers': { 'v:"a}]\\""': {} } } },
    },
  ];
  const annotations = { 'x/y': '"},"managedFields":[{"a":"}' };
  it.each([
    ['none', {}],
    ['text that looks like structure', { annotations }],
    ['managedFields', { annotations, managedFields }],
  ])('finds metadata with %s in stored bytes', (_, more) => {
    const metadata = { ...pod.metadata, ...more };
    const value = storedBytes({ ...pod, metadata, data: { managedFields: [1] } } as typeof pod);
    const entry = new CacheEntry({ namespace: 'n', name: 'a', revision: 7, value }, { codec: () => codec });
    expect(storedUid(entry)).toBe('u-1');
    const sink = new ByteSink(10);
    entry.appendMetadata(sink);
    expect(sink.take().toString()).toBe(JSON.stringify(servedBy(entry).metadata));
    const { managedFields: _managed, ...unmanaged } = { ...metadata, resourceVersion: '7' } as ObjectMeta;
    expect(codec.decodeUnmanaged(entry)).toEqual({ ...entry.object, metadata: unmanaged });
  });

  it('serves what is stored in another version in the one that it is served in', () => {
    const converting = createStoredCodec({
      storage: Pods,
      convert: (object) => object,
      canonical: (object) => objects.decode({ ...object, apiVersion: 'v1' }).object,
    });
    const value = storedBytes({ ...pod, apiVersion: 'v1beta1' });
    const entry = new CacheEntry(
      { namespace: 'n', name: 'a', revision: 7, value },
      { codec: () => converting },
    );
    expect(entry.bytes('json:v1').toString()).toContain('{"kind":"Pod","apiVersion":"v1","metadata"');
  });
});
