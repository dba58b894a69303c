import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { apiVersionOf } from '@tinkernetes/api';
import type { CacheEntry, StoredCodec } from '../cacher/cache-entry';
import { createStoredCodec, decodeStored } from '../registry/generic/stored-codec';
import { hasDefaults, withDefaults } from './defaults';
import type { Schema } from './structural-schema';

export interface CustomStoredCodecOptions {
  storage: ResourceDescriptor;
  /** By apiVersion. */
  schemas: ReadonlyMap<string, Schema>;
  /** Into another version; throws where only a webhook could and has not been asked. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

/**
 * Objects come as they are stored, in the version that was the definition's storage version then. They are defaulted
 * on every read, since the schema may have got new defaults.
 */
export function customStoredCodec({ storage, schemas, convert }: CustomStoredCodecOptions): StoredCodec {
  const plain = createStoredCodec({ storage, convert });
  const defaulted = new Set(
    [...schemas].filter(([, schema]) => hasDefaults(schema)).map(([version]) => version),
  );
  const isSole = schemas.size === 1 && defaulted.size === 0;
  if (isSole) return plain;
  const own = apiVersionOf(storage);
  return {
    ...plain,
    decode(value, revision) {
      const object = decodeStored(value, revision);
      const schema = object.apiVersion === undefined ? undefined : schemas.get(object.apiVersion);
      return schema && defaulted.has(object.apiVersion ?? '')
        ? (withDefaults(object, schema) as KubeObject)
        : object;
    },
    encode(entry, encoding) {
      const apiVersion = encoding.slice('json:'.length);
      if (apiVersion === own && !defaulted.has(own) && isStoredAs(entry, apiVersion)) {
        return plain.encode(entry, encoding);
      }
      const { object } = entry;
      return Buffer.from(
        JSON.stringify(object.apiVersion === apiVersion ? object : convert(object, apiVersion)),
      );
    },
  };
}

/** Stored bytes begin with kind and apiVersion: no need to parse them for that. */
function isStoredAs({ value }: CacheEntry, apiVersion: string): boolean {
  const head = Buffer.from(value.buffer, value.byteOffset, Math.min(value.byteLength, 400)).toString(
    'latin1',
  );
  return /^\{"kind":"[^"]*","apiVersion":"([^"]*)"/.exec(head)?.[1] === apiVersion;
}
