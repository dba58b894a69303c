import { apiVersionOf, type KubeObject } from '@tinkernetes/api';
import type { CacheEntry } from '../cacher/cache-entry';
import { jsonEncoding, protobufEncoding, protobufOf } from '../registry/generic/stored-codec';
import type { ServedResource } from '../registry/generic/served-resource';
import { goJson } from '../server/go-json';
import { goYaml } from './go-yaml';
import type { Negotiated } from './negotiation';
import { shownMetadata } from './shown-metadata';
import { renderTable, type TableOptions } from './table';

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

const partialVersion = (negotiated: Negotiated): string =>
  `meta.k8s.io/${negotiated.transformVersion ?? 'v1'}`;

/** The entry's object in the resource's version. */
export function objectOf(resource: ServedResource, entry: CacheEntry): KubeObject {
  const own = apiVersionOf(resource.descriptor);
  const object = entry.glance();
  if (object.apiVersion === own) return object;
  return JSON.parse(entry.bytes(jsonEncoding(resource.descriptor)).toString('utf8')) as KubeObject;
}

/** A decoded object in the version that is stored. */
export const toStorage = (resource: ServedResource, object: KubeObject): KubeObject =>
  resource.toStorage?.(object) ?? object;

/** A decoded object in the resource's version. */
export function objectInVersion(resource: ServedResource, object: KubeObject): KubeObject {
  const own = apiVersionOf(resource.descriptor);
  if (object.apiVersion === own || !resource.store) return object;
  const bytes = resource.store.unstored(object, Number(object.metadata.resourceVersion ?? 0));
  return JSON.parse(bytes.bytes(jsonEncoding(resource.descriptor)).toString('utf8')) as KubeObject;
}

export const partialObject = (
  resource: ServedResource,
  object: KubeObject,
  negotiated: Negotiated,
): object => ({
  kind: 'PartialObjectMetadata',
  apiVersion: partialVersion(negotiated),
  metadata: shownMetadata(resource, object),
});

/** One object as the client asked to see it. */
export function presentObject(
  resource: ServedResource,
  entry: CacheEntry,
  negotiated: Negotiated,
  table: TableOptions,
): Buffer {
  if (!negotiated.transform) {
    if (negotiated.format === 'json') return entry.bytes(jsonEncoding(resource.descriptor));
    if (negotiated.format === 'protobuf') return entry.bytes(protobufEncoding(resource.descriptor));
  }
  return serialize(transformed(resource, entry, negotiated, table), negotiated);
}

function transformed(
  resource: ServedResource,
  entry: CacheEntry,
  negotiated: Negotiated,
  table: TableOptions,
): object {
  const object = objectOf(resource, entry);
  switch (negotiated.transform) {
    case 'Table':
      return renderTable(
        resource,
        [object],
        { resourceVersion: object.metadata.resourceVersion ?? '' },
        table,
      );
    case 'PartialObjectMetadata':
      return partialObject(resource, object, negotiated);
    default:
      return object;
  }
}

/** The list without what is listed, which comes last in it. */
export function emptyList(
  resource: ServedResource,
  meta: ListMeta,
  { negotiated, table }: { negotiated: Negotiated; table: TableOptions },
): object {
  switch (negotiated.transform) {
    case 'Table':
      return renderTable(resource, [], meta, table);
    case 'PartialObjectMetadataList':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: partialVersion(negotiated),
        metadata: meta,
        items: [],
      };
    default:
      return {
        kind: resource.listKind,
        apiVersion: apiVersionOf(resource.descriptor),
        metadata: meta,
        items: [],
      };
  }
}

/** Bytes of any value in the negotiated format. */
export function serialize(value: object, negotiated: Pick<Negotiated, 'format'>): Buffer {
  if (negotiated.format === 'yaml') return Buffer.from(goYaml(value));
  if (negotiated.format === 'protobuf') return protobufOf(value);
  return Buffer.from(`${goJson(value)}\n`);
}
