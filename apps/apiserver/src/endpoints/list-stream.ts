import { apiVersionOf } from '@tinkernetes/api';
import { ByteSink } from '../cacher/byte-sink';
import type { CacheEntry } from '../cacher/cache-entry';
import { encodeListEnvelope, encodeMessageOf, messageIn } from '../protobuf';
import { jsonEncoding, protobufEncoding } from '../registry/generic/stored-codec';
import type { ServedResource } from '../registry/generic/served-resource';
import { indentedJson } from '../server/go-json';
import { jsonType } from '../server/respond';
import type { Slices } from '../server/slices';
import type { Negotiated } from './negotiation';
import { goYaml } from './go-yaml';
import { emptyList, objectOf, partialObject, type ListMeta } from './presenter';
import type { StreamedList } from './streamed-write';
import { tableRow, tableRowHead, type TableOptions } from './table';

export interface ListParts {
  resource: ServedResource;
  entries: readonly CacheEntry[];
  meta: ListMeta;
}

const comma = Buffer.from(',');
/** Room that an item mostly needs. */
const itemSize = 3 * 1024;
const nothing = Buffer.alloc(0);

const entryAt = (entries: readonly CacheEntry[], i: number): CacheEntry => {
  const entry = entries[i];
  if (!entry) throw new Error('list changed while it was written');
  return entry;
};

/** Plain JSON, from the entries' own bytes. `traces` are put beside the items. */
export function plainJsonList(
  { resource, entries, meta }: ListParts,
  traces: Record<string, string> | undefined,
): StreamedList {
  const { descriptor, custom } = resource;
  const apiVersion = apiVersionOf(descriptor);
  const encoding = jsonEncoding(descriptor);
  const metadata = JSON.stringify(custom ? { continue: '', ...meta } : meta);
  const beside = traces ? `"traces":${JSON.stringify(traces)},` : '';
  // Built-in kinds are listed without their kind and apiVersion, which the list's own imply: what follows them starts
  // with a comma, whose place an opening brace takes.
  const skip = custom ? 0 : `{"kind":"${descriptor.kind}","apiVersion":"${apiVersion}",`.length;
  const [first, others] = [Buffer.from(custom ? '' : '{'), Buffer.from(custom ? ',' : ',{')];
  return {
    contentType: jsonType,
    head: Buffer.from(
      `{"kind":"${resource.listKind}","apiVersion":"${apiVersion}","metadata":${metadata},${beside}"items":[`,
    ),
    tail: Buffer.from(']}\n'),
    count: entries.length,
    append: (i, sink) => {
      sink.add(i === 0 ? first : others);
      entryAt(entries, i).append(encoding, skip, sink);
    },
  };
}

/** A Table or a list of metadata in JSON, made object by object. */
export function transformedJsonList(
  parts: ListParts,
  negotiated: Negotiated,
  table: TableOptions,
): StreamedList {
  const { resource, entries, meta } = parts;
  const encoding = jsonEncoding(resource.descriptor);
  const isCopied = copiesMetadata(parts, negotiated, table);
  const appendsMetadata = (entry: CacheEntry) => isCopied && entry.isStoredAs(encoding);
  const appendTransformed = metadataAppender(parts, negotiated, table);
  // What is listed comes last: `…[]}`.
  const empty = JSON.stringify(emptyList(resource, meta, { negotiated, table }));
  if (entries.length === 0 && negotiated.transform === 'PartialObjectMetadataList') {
    return wholeList(`${empty.slice(0, -3)}null}\n`, negotiated);
  }
  return {
    contentType: negotiated.contentType,
    head: Buffer.from(empty.slice(0, -2)),
    tail: Buffer.from(']}\n'),
    count: entries.length,
    append: (i, sink) => {
      if (i > 0) sink.add(comma);
      const entry = entryAt(entries, i);
      if (appendsMetadata(entry)) appendTransformed(entry, sink);
      else sink.add(Buffer.from(JSON.stringify(transformedItem(resource, entry, { negotiated, table }))));
    },
  };
}

/** Whether what is shown beside the cells, or instead of the object, is a piece of the stored bytes. */
function copiesMetadata(
  { resource: { custom, strategy } }: ListParts,
  { transform }: Negotiated,
  { includeObject }: TableOptions,
): boolean {
  if (custom || strategy.rowMetadata) return false;
  return transform === 'PartialObjectMetadataList' || (transform === 'Table' && includeObject === 'Metadata');
}

/** Adds rows or metadata of which most is copied from the stored bytes. */
function metadataAppender({ resource }: ListParts, { transform }: Negotiated, table: TableOptions) {
  const beginning = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${table.version}","metadata":`;
  const end = transform === 'Table' ? '}}' : '}';
  return (entry: CacheEntry, sink: ByteSink): void => {
    if (transform === 'Table') {
      const row = JSON.stringify({ ...tableRowHead(resource, entry.glanceUnmanaged(), table), object: 0 });
      sink.add(Buffer.from(row.slice(0, -2)));
    }
    sink.addAscii(beginning);
    entry.appendMetadata(sink);
    sink.addAscii(end);
  };
}

/** In how many brackets a list's items stand: its own and those of `items` or `rows`. */
const itemDepth = 2;

/** A list in JSON, indented for who reads it as it is. */
export function indentedList({ contentType, head, tail, count, append }: StreamedList): StreamedList {
  if (count === 0) return wholeList(indentedJson(`${head.toString()}${tail.toString()}`), { contentType });
  const item = new ByteSink(itemSize);
  return {
    contentType,
    head: Buffer.from(indentedJson(head.toString())),
    tail: Buffer.from(indentedJson(tail.toString(), itemDepth)),
    count,
    append: (i, sink) => {
      append(i, item);
      sink.add(Buffer.from(indentedJson(item.take().toString(), itemDepth)));
    },
  };
}

/** A list with nothing in it; Go writes a list of metadata that never got an item as null. */
const wholeList = (text: string, { contentType }: Pick<Negotiated, 'contentType'>): StreamedList => ({
  contentType,
  head: Buffer.from(text),
  tail: nothing,
  count: 0,
  append: () => undefined,
});

function transformedItem(
  resource: ServedResource,
  entry: CacheEntry,
  { negotiated, table }: { negotiated: Negotiated; table: TableOptions },
): object {
  const object = objectOf(resource, entry);
  return negotiated.transform === 'Table'
    ? tableRow(resource, object, table)
    : partialObject(resource, object, negotiated);
}

/** A list of any form in YAML, made object by object. Its keys are sorted, so that the rest is around what is listed. */
export function yamlList(
  { resource, entries, meta }: ListParts,
  negotiated: Negotiated,
  table: TableOptions,
): StreamedList {
  const empty = goYaml(emptyList(resource, meta, { negotiated, table }));
  const place = /^(items|rows): \[\]$/m.exec(empty);
  if (!place) throw new Error('a list without a place for what is listed');
  const [mark, name] = place as [string, string] & RegExpExecArray;
  const shown = (entry: CacheEntry): object => {
    if (negotiated.transform) return transformedItem(resource, entry, { negotiated, table });
    const { kind, apiVersion, ...rest } = objectOf(resource, entry);
    return resource.custom ? { kind, apiVersion, ...rest } : rest;
  };
  const isEmpty = entries.length === 0;
  if (isEmpty && negotiated.transform === 'PartialObjectMetadataList') {
    return wholeList(empty.replace('items: []', 'items: null'), negotiated);
  }
  return {
    contentType: negotiated.contentType,
    head: Buffer.from(isEmpty ? empty : `${empty.slice(0, place.index)}${name}:\n`),
    tail: Buffer.from(isEmpty ? '' : empty.slice(place.index + mark.length + 1)),
    count: entries.length,
    append: (i, sink) => sink.add(Buffer.from(goYaml([shown(entryAt(entries, i))]))),
  };
}

/** Protobuf: its beginning says how long all of it is, so all items are made before the first is sent. */
export async function protobufList(
  { resource, entries, meta }: ListParts,
  { negotiated, table, slices }: { negotiated: Negotiated; table: TableOptions; slices: Slices },
): Promise<StreamedList> {
  const encoding = protobufEncoding(resource.descriptor);
  const items: Uint8Array[] = [];
  for (const entry of entries) {
    if (slices.areUsedUp) await slices.next();
    items.push(
      negotiated.transform
        ? encodeMessageOf(partialObject(resource, objectOf(resource, entry), negotiated))
        : messageIn(entry.bytes(encoding)),
    );
  }
  const { head, lead, tail } = encodeListEnvelope(
    emptyList(resource, meta, { negotiated, table }),
    items.map(({ length }) => length),
  );
  return {
    contentType: negotiated.contentType,
    head,
    tail,
    count: items.length,
    append: (i, sink) => {
      sink.add(lead(i));
      sink.add(items[i] ?? nothing);
    },
  };
}
